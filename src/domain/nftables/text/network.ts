import { addressBits, parseCidr, type Cidr } from '../../net/cidr.js';
import type { IpFamily } from '../../net/ip-family.js';
import { UnsafeTextError } from './safe-text.js';

/** Reads the network of an address statement, `a/n` or one address, that is about to be written. Throws UnsafeTextError. */
export function safeNetwork(family: IpFamily, text: string): Cidr {
  const network = parseCidr(text.includes('/') ? text : `${text}/${addressBits(family)}`);
  if (network?.family !== family) throw new UnsafeTextError('network', text, `an ${family} address or CIDR`);
  return network;
}
