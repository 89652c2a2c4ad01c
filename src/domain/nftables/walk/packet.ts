import type { IpFamily } from '../../net/ip-family.js';
import type { Protocol } from '../../model/service-port-name.js';

/** The first packet of a connection, on its way into or out of this node. Addresses are canonical. */
export interface Packet {
  readonly family: IpFamily;
  /** The interface through which it comes in; undefined for a packet that this node itself sends. */
  readonly inputInterface: string | undefined;
  readonly source: string;
  readonly destination: string;
  readonly protocol: Protocol;
  readonly destinationPort: number;
}

/** What the rules ask the kernel besides the packet. */
export interface PacketEnvironment {
  /** The node's own addresses; loopback ones need not be among them. */
  readonly localAddresses: ReadonlySet<string>;
  /** What earlier packets left in dynamic sets: keys, by the name of the set. */
  readonly remembered?: ReadonlyMap<string, ReadonlySet<string>>;
}

/** One way that a packet can go. Where the rules draw lots there are several. */
export interface Ending {
  readonly verdict: 'sent' | 'untouched' | 'refused' | 'dropped';
  /** Where the packet was sent: `ip:port`, IPv6 in brackets. Undefined unless `sent`. */
  readonly endpoint?: string;
  readonly masquerade: boolean;
  /** What the packet carries at the end; a proxy should leave neither behind. */
  readonly mark: number;
  readonly priority: number;
  /** What it left in dynamic sets: set and key. */
  readonly remembers: readonly { readonly set: string; readonly key: string }[];
}

/** All endings in one value. `mixed` for verdicts means that packets meet different fates, as none should. */
export type Outcome =
  | {
      /** Every endpoint that may be drawn, sorted. */ readonly to: readonly string[];
      readonly masquerade: boolean | 'mixed';
    }
  | 'refused'
  | 'dropped'
  | 'untouched'
  | 'mixed';

/** What becomes of packets of this kind. */
export function outcomeOf(endings: readonly Ending[]): Outcome {
  const [first] = endings;
  if (!first || endings.some(({ verdict }) => verdict !== first.verdict)) return 'mixed';
  if (first.verdict !== 'sent') return first.verdict;
  const masquerade = endings.every((ending) => ending.masquerade === first.masquerade)
    ? first.masquerade
    : 'mixed';
  return { to: [...new Set(endings.map(({ endpoint }) => endpoint!))].sort(), masquerade };
}
