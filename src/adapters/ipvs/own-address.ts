import { isLoopback } from '../../domain/net/address.js';
import { cidrContains, parseCidr } from '../../domain/net/cidr.js';
import type { DeviceAddress } from '../rtnetlink/addresses.js';

const LINK_LOCAL = parseCidr('fe80::/10')!;

/** Whether an address counts as one of this machine: neither loopback nor link-local IPv6; 169.254.0.0/16 does (spec/ipvs.md 3). */
export function isOwnAddress({ family, address }: DeviceAddress): boolean {
  return !isLoopback({ family, text: address }) && !cidrContains(LINK_LOCAL, address);
}
