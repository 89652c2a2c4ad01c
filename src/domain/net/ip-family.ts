/** IP families, and addresses with ports as text. */

import { flatText } from '../model/text.js';

/** An address family. Everything exists once per family (docs/internals/spec/model.md). */
export type IpFamily = 'IPv4' | 'IPv6';

/** Both families. */
export const IP_FAMILIES: readonly IpFamily[] = ['IPv4', 'IPv6'];

/** The family of an address in canonical text. */
export function familyOf(address: string): IpFamily {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}

/** `ip:port`, with brackets around IPv6, as kube-proxy prints and sorts endpoints. */
export function hostPort(address: string, port: number): string {
  const text = String(port);
  return address.includes(':') ? flatText('[', address, ']:', text) : flatText(address, ':', text);
}
