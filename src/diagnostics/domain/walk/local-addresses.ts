import { isLoopback } from '../../../domain/net/address.js';
import type { Packet } from '../trace/packet.js';

/** Tells the node's own addresses from others, those of loopback included. */
export function localTo(
  { localAddresses }: { readonly localAddresses: Pick<ReadonlySet<string>, 'has'> },
  { family }: Packet,
): (address: string) => boolean {
  return (text) => localAddresses.has(text) || isLoopback({ family, text });
}
