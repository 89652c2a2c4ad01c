import { isLoopback, type Address } from '../net/address.js';
import { cidrContains, parseCidr } from '../net/cidr.js';

const LINK_LOCAL = parseCidr('fe80::/10')!;

/** Whether an address counts as one of this node: neither loopback nor link-local IPv6; 169.254.0.0/16 does (docs/spec/ipvs.md §3). */
export function isOwnAddress(address: Address): boolean {
  return !isLoopback(address) && !cidrContains(LINK_LOCAL, address.text);
}
