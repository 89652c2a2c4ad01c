import { networkInterfaces } from 'node:os';
import type { LocalAddresses } from '../../application/ports/node/local-addresses.js';
import { parseAddress } from '../../domain/net/address.js';

/** The addresses of the interfaces of this network namespace that are up and have a carrier. */
export class InterfaceAddresses implements LocalAddresses {
  list(): readonly string[] {
    const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const texts = interfaces.flatMap(({ address }) => parseAddress(address.replace(/%.*$/, ''))?.text ?? []);
    return [...new Set(texts)];
  }
}
