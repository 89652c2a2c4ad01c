import type { ServicePortKey } from '../model/service-port-name.js';

/** Endpoints by `ip:port`. */
export type Places = Pick<ReadonlySet<string>, 'has' | 'size'>;

/** The endpoints of a service port that step aside: listed, but to get no new connections for a while. Undefined: none. */
export type StepsAside = (port: ServicePortKey) => Places | undefined;

export const NOBODY_ASIDE: StepsAside = () => undefined;

/** How many of a list of endpoints may step aside: never more than half, so never the last one. */
export function mostAside(listed: number): number {
  return Math.floor(listed / 2);
}
