import type { Mode } from '../world/settings.js';
import type { Client } from './clients.js';
import type { ExpectedFrontend } from './expected-ports.js';

/** What a mode does not promise: of the packets of this client to that frontend nothing is expected. */
export function promisesNothing(
  mode: Mode,
  { kind, protocol }: ExpectedFrontend,
  client: Client,
  isQuiet: boolean,
): boolean {
  const isExternal = kind === 'external-ip' || kind === 'load-balancer-ip';
  // docs/internals/spec/userspace.md: no SCTP; the node's own packets to external addresses stay as they are.
  if (mode === 'userspace') return protocol === 'SCTP' || (isExternal && client.kind === 'node');
  // Until the node has the address, its own packets leave with another source than those that ranges are asked about.
  return mode === 'ipvs' && !isQuiet && kind === 'load-balancer-ip' && client.kind === 'node';
}
