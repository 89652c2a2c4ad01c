import ipaddr from 'ipaddr.js';
import type { Address } from '../net/address.js';
import type { IpFamily } from '../net/ip-family.js';

/** An address of an interface of this machine that is up, with a carrier or without. */
export interface InterfaceAddress extends Address {
  readonly interfaceName: string;
  readonly pointToPoint: boolean;
}

/** Not this machine alone, not this link alone, not many. */
const OTHER_RANGES = new Set(['unspecified', 'broadcast', 'multicast', 'linkLocal', 'loopback']);

/**
 * The address of the family by which this host is known (docs/spec/userspace.md §1): of an interface with a default route,
 * or else of any that is neither loopback nor point-to-point. Undefined when there is none.
 * @param defaultRoutes interfaces with a default route of the family, the best first
 */
export function chooseHostAddress(
  addresses: readonly InterfaceAddress[],
  defaultRoutes: readonly string[],
  family: IpFamily,
): string | undefined {
  const usable = addresses.filter((address) => address.family === family && isGlobalUnicast(address));
  for (const name of defaultRoutes) {
    const found = usable.find(({ interfaceName }) => interfaceName === name);
    if (found) return found.text;
  }
  return usable.find(({ interfaceName, pointToPoint }) => interfaceName !== 'lo' && !pointToPoint)?.text;
}

function isGlobalUnicast({ text }: Address): boolean {
  return !OTHER_RANGES.has(ipaddr.parse(text).range());
}
