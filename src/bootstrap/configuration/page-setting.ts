import { isLoopback, parseAddress } from '../../domain/net/address.js';
import type { Configuration } from './schema/schema.js';
import { splitHostPort } from '../../domain/net/listen-address.js';

/** Whether the page is served: as configured, otherwise where only this machine can reach it. */
export function servesPage({ page, metricsBindAddress }: Configuration): boolean {
  const address = parseAddress(splitHostPort(metricsBindAddress)?.host);
  return page ?? (address !== undefined && isLoopback(address));
}
