import type { Flow } from '../conntrack/flow.js';
import type { Protocol } from '../model/service-port-name.js';
import type { IpFamily } from '../net/ip-family.js';

/** A tracked connection as the kernel shows it at one moment. May be a view that is only valid during a call. */
export interface SeenFlow extends Flow {
  /** Tells it from all others that exist at the same time. */
  readonly id: number;
  /** Of its client's address and port (`flowHash`): decides whether it belongs to a sample. */
  readonly hash: number;
  /** The last four bytes of the client's address, as a number. */
  readonly client: number;
  readonly family: IpFamily;
  readonly protocol: Protocol;
  /** Packets have come back. */
  readonly replied: boolean;
  /** Both ends have closed it (TCP), though the kernel still remembers it. */
  readonly closed: boolean;
  /** In both directions since it began; undefined if the kernel does not count them, or does not say. */
  readonly bytes: number | undefined;
}
