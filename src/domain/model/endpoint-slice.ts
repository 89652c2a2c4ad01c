import type { IpFamily } from '../net/ip-family.js';
import { sharedWith, sortedOnce, type Endpoint } from './endpoint.js';
import type { Protocol } from './service-port-name.js';

/** The parts of an EndpointSlice that the proxy uses (docs/spec/model.md §3). */
export interface EndpointSlice {
  readonly namespace: string;
  readonly name: string;
  /** Name of the Service it belongs to, in the same namespace. */
  readonly service: string;
  readonly family: IpFamily;
  readonly ports: readonly SlicePort[];
  /** How many endpoints it lists without any port; missing if there are none, or there is a port. */
  readonly portless?: number;
  /** When the cause of this slice happened, milliseconds since the epoch, if the cluster says so. */
  readonly triggerTime?: number;
}

/** A port of a slice. */
export interface SlicePort {
  readonly name: string;
  readonly protocol: Protocol;
  /** Sorted by `ip:port`, without duplicates. */
  readonly endpoints: readonly Endpoint[];
}

/** A port of a slice in the cluster's form, with a number. */
export interface NumberedPort extends Pick<SlicePort, 'name' | 'protocol'> {
  readonly port: number;
}

/** An endpoint of a slice in the cluster's form: an address and its state. */
export type SliceEndpoint = Omit<Endpoint, 'port'>;

/** Combines a port of a slice with its endpoints. */
export function slicePort(
  { name, protocol, port }: NumberedPort,
  endpoints: readonly SliceEndpoint[],
): SlicePort {
  return { name, protocol, endpoints: sortedOnce(endpoints.map((endpoint) => atPort(endpoint, port))) };
}

/** The slice, with what an earlier version of it has in common; the earlier one itself if they are equal. */
export function sharedWithEarlier(earlier: EndpointSlice, slice: EndpointSlice): EndpointSlice {
  const ports = slice.ports.map((port, index) => sharedPort(earlier.ports[index], port));
  const isEqual =
    ports.length === earlier.ports.length &&
    ports.every((port, index) => port === earlier.ports[index]) &&
    slice.service === earlier.service &&
    slice.family === earlier.family &&
    slice.portless === earlier.portless &&
    slice.triggerTime === earlier.triggerTime;
  return isEqual ? earlier : { ...slice, ports };
}

function sharedPort(earlier: SlicePort | undefined, { name, protocol, endpoints }: SlicePort): SlicePort {
  if (!earlier) return { name, protocol, endpoints };
  const shared = sharedWith(earlier.endpoints, endpoints);
  const isEqual = shared === earlier.endpoints && name === earlier.name && protocol === earlier.protocol;
  return isEqual ? earlier : { name, protocol, endpoints: shared };
}

/** Written out, because it runs for every endpoint and a spread costs several times as much. */
function atPort(endpoint: SliceEndpoint, port: number): Endpoint {
  const { address, isLocal, ready, serving, terminating, zoneHints, nodeHints, weight } = endpoint;
  if (weight === undefined)
    return { address, port, isLocal, ready, serving, terminating, zoneHints, nodeHints };
  return { address, port, isLocal, ready, serving, terminating, zoneHints, nodeHints, weight };
}
