import { hostPort } from '../net/address.js';
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
export type SliceEndpoint = Omit<Endpoint, 'port' | 'text'>;

/** Combines a port of a slice with its endpoints. */
export function slicePort(
  { name, protocol, port }: NumberedPort,
  endpoints: readonly SliceEndpoint[],
): SlicePort {
  return { name, protocol, endpoints: sortedOnce(endpoints.map((endpoint) => atPort(endpoint, port))) };
}

/** The slice, with the endpoints of an earlier version in place of equal ones. */
export function sharedWithEarlier(earlier: EndpointSlice, slice: EndpointSlice): EndpointSlice {
  const ports = slice.ports.map((port, index) => {
    const before = earlier.ports[index]?.endpoints;
    return before ? { ...port, endpoints: sharedWith(before, port.endpoints) } : port;
  });
  return { ...slice, ports };
}

/** Written out, because it runs for every endpoint and a spread costs several times as much. */
function atPort(endpoint: SliceEndpoint, port: number): Endpoint {
  const { address, isLocal, ready, serving, terminating, zoneHints, nodeHints } = endpoint;
  const text = hostPort(address, port);
  return { address, port, text, isLocal, ready, serving, terminating, zoneHints, nodeHints };
}
