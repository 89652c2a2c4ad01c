import { networkInterfaces } from 'node:os';
import type { LocalAddresses } from '../../application/ports/local-addresses.js';
import { parseAddress } from '../../domain/net/address.js';

/** The addresses of the interfaces that are up in this network namespace. */
export class InterfaceAddresses implements LocalAddresses {
  list(): readonly string[] {
    const interfaces = Object.values(networkInterfaces()).flatMap((addresses) => addresses ?? []);
    const texts = interfaces.flatMap(({ address }) => parseAddress(address.replace(/%.*$/, ''))?.text ?? []);
    return [...new Set(texts)];
  }
}
