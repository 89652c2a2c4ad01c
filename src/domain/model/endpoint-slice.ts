import { hostPort } from '../net/address.js';
import type { IpFamily } from '../net/ip-family.js';
import { sortedOnce, type Endpoint } from './endpoint.js';
import type { Protocol } from './service-port-name.js';

/** What the proxy keeps of an EndpointSlice (docs/spec/model.md §3). */
export interface EndpointSlice {
  readonly namespace: string;
  readonly name: string;
  /** Name of the Service it belongs to, in the same namespace. */
  readonly service: string;
  readonly family: IpFamily;
  readonly ports: readonly SlicePort[];
  /** When the change that led to this slice happened, milliseconds since the epoch, where the cluster tells. */
  readonly triggerTime?: number;
}

/** A port of a slice. */
export interface SlicePort {
  readonly name: string;
  readonly protocol: Protocol;
  /** At this port: sorted by `ip:port`, each once. */
  readonly endpoints: readonly Endpoint[];
}

/** The port of a slice as the cluster has it, with a number. */
export interface NumberedPort extends Pick<SlicePort, 'name' | 'protocol'> {
  readonly port: number;
}

/** An endpoint of a slice as the cluster has it: an address, and its state. */
export type SliceEndpoint = Omit<Endpoint, 'port' | 'text'>;

/** What a slice has at a port. */
export function slicePort(
  { name, protocol, port }: NumberedPort,
  endpoints: readonly SliceEndpoint[],
): SlicePort {
  return { name, protocol, endpoints: sortedOnce(endpoints.map((endpoint) => atPort(endpoint, port))) };
}

/** Written out, since it runs for every endpoint there is and a spread costs several times as much. */
function atPort(endpoint: SliceEndpoint, port: number): Endpoint {
  const { address, isLocal, ready, serving, terminating, zoneHints, nodeHints } = endpoint;
  const text = hostPort(address, port);
  return { address, port, text, isLocal, ready, serving, terminating, zoneHints, nodeHints };
}
