import type { Packet, Step, PacketPath } from '../trace/trace.js';
import type { PacketOutcome } from '../../../domain/forwarding/forwarding-entry.js';
import type { AddressRange } from '../compare/address-ranges.js';

/** The hooks of IP. */
export type HookName = 'prerouting' | 'input' | 'forward' | 'output' | 'postrouting';

/** What rules have made of a packet so far. */
export type PacketFields = Omit<PacketState, 'with'>;

/** A packet that no rule has changed yet. */
type SentPacket = Pick<
  PacketFields,
  'packet' | 'hook' | 'source' | 'destination' | 'port' | 'inputInterface'
>;

/**
 * A packet in flight: what rules have made of it so far. Walks copy little else, and objects that spreads have made take many times
 * as long to copy as those of a class.
 */
export class PacketState {
  /** As it was sent. */
  readonly packet: Packet;
  /** Where it is now, or was last. The process of userspace mode stands where the kernel has no hook any more. */
  readonly hook: HookName | 'process';
  readonly source: string;
  readonly destination: string;
  readonly port: number;
  /** Empty if there is none. */
  readonly inputInterface: string;
  readonly mark: number;
  /** The mark of its connection. */
  readonly connectionMark: number;
  /** Connection tracking leaves it alone, and with that table nat. */
  readonly isUntracked: boolean;
  /** The virtual server of IPVS that took it. */
  readonly virtualServer: { readonly address: string; readonly port: number } | undefined;
  /** Its destination was rewritten. */
  readonly isTranslated: boolean;
  /** Its source was rewritten. */
  readonly isMasqueraded: boolean;
  /** It was asked where to translate each end of the connection to, which happens once. */
  readonly destinationIsSettled: boolean;
  readonly sourceIsSettled: boolean;
  /** IPVS took it, and sends it on its way as if it came from this node. */
  readonly isSentAnew: boolean;
  /** The rules send the client's next connection to the same endpoint. */
  readonly isSticky: boolean;
  /** What its client is remembered as, by the name of a set or list; only where the walk is watched. */
  readonly memory: ReadonlyMap<string, ReadonlySet<string>> | undefined;
  readonly verdict: Exclude<PacketOutcome, 'forward'> | undefined;
  /** How likely it comes this way, between 0 and 1. */
  readonly probability: number;
  readonly steps: readonly Step[];
  /** The service port whose frontend the packet was sent to, once a rule has found it. */
  readonly servicePort: string | undefined;

  constructor(state: PacketFields | SentPacket) {
    const fields: SentPacket & Partial<PacketFields> = state;
    this.packet = fields.packet;
    this.hook = fields.hook;
    this.source = fields.source;
    this.destination = fields.destination;
    this.port = fields.port;
    this.inputInterface = fields.inputInterface;
    this.mark = fields.mark ?? 0;
    this.connectionMark = fields.connectionMark ?? 0;
    this.isUntracked = fields.isUntracked ?? false;
    this.virtualServer = fields.virtualServer;
    this.isTranslated = fields.isTranslated ?? false;
    this.isMasqueraded = fields.isMasqueraded ?? false;
    this.destinationIsSettled = fields.destinationIsSettled ?? false;
    this.sourceIsSettled = fields.sourceIsSettled ?? false;
    this.isSentAnew = fields.isSentAnew ?? false;
    this.isSticky = fields.isSticky ?? false;
    this.memory = fields.memory;
    this.verdict = fields.verdict;
    this.probability = fields.probability ?? 1;
    this.steps = fields.steps ?? [];
    this.servicePort = fields.servicePort;
  }

  /** The same packet, of which this is different now. */
  with(changes: Partial<PacketFields>): this {
    return Object.assign(new PacketState(this), changes) as this;
  }
}

/** A rule or a virtual server on the path of a packet. Most have no effect, so the text of a rule may be made on request. */
export type Place = Pick<Step, 'where' | 'rule' | 'servicePort' | 'foreign'>;

/** The state of a packet that no rule has changed yet. */
export function initialState(packet: Packet): SentPacket {
  return {
    packet,
    hook: packet.inputInterface === undefined ? 'output' : 'prerouting',
    source: packet.source,
    destination: packet.destination,
    port: packet.destinationPort,
    inputInterface: packet.inputInterface ?? '',
  };
}

/** Whether it was routed, and goes out through an interface. */
export function isLeaving({ hook }: PacketState): boolean {
  return hook === 'forward' || hook === 'output' || hook === 'postrouting';
}

/** Adds the effect of a rule to the steps. Consecutive effects of one rule are one step. */
export function withStep<C extends PacketState>(
  state: C,
  place: Place,
  effect: string,
  isUncertain = false,
): C {
  const { hook, steps } = state;
  const { where, rule, foreign } = place;
  const last = steps.at(-1);
  const continues = last?.hook === hook && last.where === where && last.rule === rule;
  const servicePort = foreign ? undefined : (place.servicePort ?? state.servicePort);
  const step: Step = {
    hook,
    where,
    rule,
    effect: continues ? `${last.effect}; ${effect}` : effect,
    ...(servicePort !== undefined && { servicePort }),
    ...(foreign && { foreign }),
    ...((isUncertain || (continues && last.uncertain)) && { uncertain: true }),
  };
  return state.with({ steps: [...(continues ? steps.slice(0, -1) : steps), step] });
}

/** The state of this share of the packets. */
export function shareOf<C extends PacketState>(state: C, share: number): C {
  return share === 1 ? state : state.with({ probability: state.probability * share });
}

/**
 * The verdict of the rules on a packet.
 * @param isSent whether it was sent to an endpoint, unless a verdict stopped it
 */
export function verdictOf(state: PacketState, isSent = state.isTranslated): PacketPath {
  const { verdict, destination: address, port, probability, isMasqueraded, isSticky, memory, steps } = state;
  const arrives = verdict === undefined && isSent;
  return {
    verdict: verdict ?? (isSent ? 'forward' : 'untouched'),
    probability,
    masquerade: isMasqueraded,
    sticky: arrives && isSticky,
    steps,
    ...(arrives && { endpoint: { address, port } }),
    ...(memory && { memory }),
  };
}

/**
 * Sees what rules compare of a packet on its way. Whatever packet gets the same answers takes the same way, so that what was seen
 * reports the other packets with the same outcome.
 */
export interface Watch {
  /** The source that the packet was sent with was compared with these addresses. */
  source(range: AddressRange): void;
  /** So was the name of the interface that it came in through; `+` at the end stands for anything. */
  inputInterface(pattern: string): void;
  /** Something was looked at that is not known, or that packets of a client may differ in. */
  unclear(what: string): void;
  /** Clients are remembered for this long. */
  affinity(seconds: number): void;
}
