import type { ServicePortKey } from '../model/service-port-name.js';

/** Endpoints by `ip:port`. */
export type Places = Pick<ReadonlySet<string>, 'has' | 'size'>;

/** The ejected endpoints of a service port: listed, but without new connections for a while. Undefined: none. */
export type EjectedEndpoints = (port: ServicePortKey) => Places | undefined;

/** How many of a list of endpoints may be ejected: never more than half, so never the last one. */
export function mostEjected(listed: number): number {
  return Math.floor(listed / 2);
}
