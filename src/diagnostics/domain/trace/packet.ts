import type { Protocol } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';

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
  /** The interface through which the node sends to an address, for rules that look at it. Missing: nobody knows. */
  readonly deviceTowards?: (address: string) => Promise<string>;
  /** What earlier packets left in dynamic sets: keys, by the name of the set. */
  readonly remembered?: ReadonlyMap<string, ReadonlySet<string>>;
  /** Nobody wants to be told the way of the packet: only steps whose effect is not known are kept. A watch says it itself. */
  readonly isSilent?: boolean;
}
