import type { IpSet } from '../../../domain/ipvs/ip-set.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import { Course, type CourseState } from '../walk/course.js';
import type { Watch } from '../walk/watch.js';
import type { DeviceTowards } from './known-devices.js';

/** A packet in flight through tables. */
export class TablesCourse extends Course {
  /**
   * @param connectionMark the mark of its connection
   * @param isUntracked connection tracking leaves it alone, and with that table nat
   * @param virtualServer which one of IPVS took it
   */
  constructor(
    state: CourseState,
    readonly connectionMark: number = 0,
    readonly isUntracked: boolean = false,
    readonly virtualServer?: { readonly address: string; readonly port: number },
  ) {
    super(state);
  }

  override with(changes: Partial<Omit<TablesCourse, 'with'>>): this {
    const { connectionMark, isUntracked, virtualServer } = this;
    const copy = new TablesCourse(this, connectionMark, isUntracked, virtualServer);
    return Object.assign(copy, changes) as this;
  }
}

/** What conditions need to know besides the packet. */
export interface Surroundings {
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

export function protocolOf({ packet }: TablesCourse): Lowercase<Protocol> {
  return LOWER_CASE[packet.protocol];
}

const LOWER_CASE: Readonly<Record<Protocol, Lowercase<Protocol>>> = { TCP: 'tcp', UDP: 'udp', SCTP: 'sctp' };
