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

/** What the rules need to know besides the packet. */
export interface PacketEnvironment {
  /** The node's own addresses; loopback addresses may be missing. */
  readonly localAddresses: ReadonlySet<string>;
  /** What earlier packets left in dynamic sets: keys, by the name of the set. */
  readonly remembered?: ReadonlyMap<string, ReadonlySet<string>>;
}

/** One possible end of a packet. There are several where rules pick at random. */
export interface Ending {
  readonly verdict: 'sent' | 'untouched' | 'refused' | 'dropped';
  /** Where the packet was sent: `ip:port`, IPv6 in brackets. Undefined unless `sent`. */
  readonly endpoint?: string;
  readonly masquerade: boolean;
  /** What the packet carries at the end; a proxy should leave neither set. */
  readonly mark: number;
  readonly priority: number;
  /** What it left in dynamic sets: set and key. */
  readonly remembers: readonly { readonly set: string; readonly key: string }[];
}

/** All endings in one value. `mixed` means that packets get different verdicts, which should never happen. */
export type Outcome =
  | {
      /** Every endpoint that may be picked, sorted. */ readonly to: readonly string[];
      readonly masquerade: boolean | 'mixed';
    }
  | 'refused'
  | 'dropped'
  | 'untouched'
  | 'mixed';

/** What happens to packets of this kind. */
export function outcomeOf(endings: readonly Ending[]): Outcome {
  const [first] = endings;
  if (!first || endings.some(({ verdict }) => verdict !== first.verdict)) return 'mixed';
  if (first.verdict !== 'sent') return first.verdict;
  const masquerade = endings.every((ending) => ending.masquerade === first.masquerade)
    ? first.masquerade
    : 'mixed';
  return { to: [...new Set(endings.map(({ endpoint }) => endpoint!))].sort(), masquerade };
}
