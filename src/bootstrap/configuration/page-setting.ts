import { isLoopback, parseAddress } from '../../domain/net/address.js';
import type { Configuration } from './schema/schema.js';
import { splitHostPort } from '../../domain/net/listen-address.js';

/** Whether only this machine can reach the metrics server. */
export function isMetricsOnLoopback({ metricsBindAddress }: Configuration): boolean {
  const address = parseAddress(splitHostPort(metricsBindAddress)?.host);
  return address !== undefined && isLoopback(address);
}

/** Whether the page is served: as configured, otherwise where only this machine can reach it. */
export function servesPage(configuration: Configuration): boolean {
  return configuration.page ?? isMetricsOnLoopback(configuration);
}
