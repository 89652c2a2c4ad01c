import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { endpointPlace } from '../model/endpoint.js';
import { frontendAddress, type FrontendAddress } from './frontend-map.js';

/** The frontends and endpoints of a UDP service port, for judging flows. */
export interface UdpServicePort {
  readonly frontends: readonly FrontendAddress[];
  /** `ip:port` of the endpoints that may keep their flows. */
  readonly endpoints: ReadonlySet<string>;
}

/** Undefined for other protocols, whose clients notice by themselves that an endpoint is gone. */
export function udpServicePort(entry: ForwardingEntry): UdpServicePort | undefined {
  if (entry.name.protocol !== 'UDP') return undefined;
  return {
    frontends: entry.frontends.map(frontendAddress),
    endpoints: new Set(entry.flowEligibleEndpoints.map(endpointPlace)),
  };
}
