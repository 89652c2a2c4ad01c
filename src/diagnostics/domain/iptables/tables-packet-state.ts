import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import { PacketState, type PacketFields, type Watch } from '../walk/packet-state.js';
import type { PacketEnvironment, TracedEnding } from '../trace/trace.js';
import { OnDemand, walkUntilKnown, type Wanted } from '../walk/on-demand.js';

/** A packet in flight through tables. */
export class TablesPacketState extends PacketState {
  /**
   * @param connectionMark the mark of its connection
   * @param isUntracked connection tracking leaves it alone, and with that table nat
   * @param virtualServer which one of IPVS took it
   */
  constructor(
    state: PacketFields,
    readonly connectionMark: number = 0,
    readonly isUntracked: boolean = false,
    readonly virtualServer?: { readonly address: string; readonly port: number },
  ) {
    super(state);
  }

  override with(changes: Partial<Omit<TablesPacketState, 'with'>>): this {
    const { connectionMark, isUntracked, virtualServer } = this;
    const copy = new TablesPacketState(this, connectionMark, isUntracked, virtualServer);
    return Object.assign(copy, changes) as this;
  }
}

/** What conditions need to know besides the packet. */
export interface ConditionInputs {
  readonly isLocal: (address: string) => boolean;
  /** An address of the node, of the packet's family. */
  readonly ownAddress: string;
  readonly deviceTowards: DeviceTowards;
  /** The IP sets that are known, by name. */
  readonly sets: ReadonlyMap<string, IpSet>;
  /** Whether the list of match `recent` holds the address. */
  readonly remembers: (list: string, address: string) => boolean;
  /** Missing: nobody asks what is compared. */
  readonly watch?: Watch | undefined;
}

export function protocolOf({ packet }: TablesPacketState): Lowercase<Protocol> {
  return LOWER_CASE[packet.protocol];
}

const LOWER_CASE: Readonly<Record<Protocol, Lowercase<Protocol>>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };

/** The device that packets to an address go out through; undefined where that is not known. */
export type DeviceTowards = (address: string) => string | undefined;

/**
 * Walks with devices that are asked for where a rule looks at them.
 * @param sources what else the walk looks up
 */
export function walkWithDevices(
  { deviceTowards }: PacketEnvironment,
  walk: (devices: DeviceTowards) => readonly TracedEnding[],
  ...sources: readonly Wanted[]
): Promise<readonly TracedEnding[]> {
  const devices = new OnDemand(deviceTowards);
  return walkUntilKnown(() => walk(devices.find), devices, ...sources);
}

/** One condition of a rule. */
export interface Condition {
  /** As the rule has it. */
  readonly text: string;
  /** Undefined: it cannot be told. */
  holds(state: TablesPacketState, inputs: ConditionInputs): boolean | undefined;
}

/** Results an answer round where the rule says so; what cannot be told stays so. */
export function negatedIf(isNegated: boolean, answer: boolean | undefined): boolean | undefined {
  return answer === undefined ? undefined : answer !== isNegated;
}
