import type { Socket } from 'node:net';
import { isLoopback, parseAddress, type Address } from '../../domain/net/address.js';
import { maskAddress } from '../../domain/net/cidr.js';

/** The addresses of a connection, as Node gives them. */
export type Ends = Pick<Socket, 'remoteAddress' | 'localAddress'>;

/** Of an IPv6 address, what stands for one client: anybody with a network has 2⁶⁴ addresses. */
const PREFIX = 64;

/** Whether the client came by the loopback interface. The kernel drops packets with such a source that come from elsewhere. */
export function isOverLoopback({ remoteAddress }: Pick<Ends, 'remoteAddress'>): boolean {
  const address = withoutZone(remoteAddress);
  return address !== undefined && isLoopback(address);
}

/**
 * Whether the client is on this node: over loopback, or over another address of the node, which then is at both ends, as when the
 * kubelet asks a pod in the host's network.
 */
export function isThisNode(ends: Ends): boolean {
  const { remoteAddress, localAddress } = ends;
  return isOverLoopback(ends) || (remoteAddress !== undefined && remoteAddress === localAddress);
}

/** What a client's connections are counted by: its IPv4 address, or the /64 of its IPv6 address. Undefined: it is gone already. */
export function sourceOf({ remoteAddress }: Pick<Ends, 'remoteAddress'>): string | undefined {
  const address = withoutZone(remoteAddress);
  if (!address) return undefined;
  return address.family === 'IPv4' ? address.text : `${maskAddress(address.text, PREFIX)}/${PREFIX}`;
}

/** Without `%eth0`; IPv4 that is mapped into IPv6 is IPv4. */
function withoutZone(text: string | undefined): Address | undefined {
  return parseAddress(text?.replace(/%.*$/, ''));
}
