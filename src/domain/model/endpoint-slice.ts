import type { IpFamily } from '../net/ip-family.js';
import { sameEndpoint, sharedWith, sortedOnce, type Endpoint } from './endpoint.js';
import { subset } from './subset.js';
import type { Protocol } from './service-port-name.js';

/** The parts of an EndpointSlice that the proxy uses (docs/internals/spec/model.md §3). */
export interface EndpointSlice {
  readonly namespace: string;
  readonly name: string;
  /** Name of the Service it belongs to, in the same namespace. */
  readonly service: string;
  readonly family: IpFamily;
  readonly ports: readonly SlicePort[];
  /** How many endpoints it lists without any port; missing if there are none, or there is a port. */
  readonly portless?: number;
  /** When the cause of this slice happened, milliseconds since the epoch, if the cluster has it. */
  readonly triggerTime?: number;
}

/** A port of a slice. */
export interface SlicePort {
  readonly name: string;
  readonly protocol: Protocol;
  /** Sorted by `ip:port`, without duplicates. Where a slice has very many, each access makes them. */
  readonly endpoints: readonly Endpoint[];
}

/** With more endpoints than this, in all ports together, a slice keeps their addresses once. An API server accepts 20 million. */
const MOST_KEPT = 10_000;

/** A port of a slice in the cluster's form, with a number. */
export interface NumberedPort extends Pick<SlicePort, 'name' | 'protocol'> {
  readonly port: number;
}

/** An endpoint of a slice in the cluster's form: an address and its state. */
export type SliceEndpoint = Omit<Endpoint, 'port'>;

/** The ports of a slice with its endpoints. */
export function slicePorts(
  ports: readonly NumberedPort[],
  endpoints: readonly SliceEndpoint[],
): readonly SlicePort[] {
  if (ports.length * endpoints.length <= MOST_KEPT)
    return ports.map(({ name, protocol, port }) => ({ name, protocol, endpoints: atPorts(endpoints, port) }));
  const shared = new SharedEndpoints(atPorts(endpoints, 0));
  return ports.map(({ name, protocol, port }) => new SharingPort(name, protocol, port, shared));
}

/** How many endpoints the port of a slice has. Cheap. */
export function endpointCount(port: SlicePort): number {
  return port instanceof SharingPort ? port.shared.list.length : port.endpoints.length;
}

/** The endpoints of the port, with any port number: the same list for all ports that share one. */
export function listedEndpoints(port: SlicePort): readonly SliceEndpoint[] {
  return port instanceof SharingPort ? port.shared.list : port.endpoints;
}

/** The endpoints of the port that may get traffic: those on this node, or the others, up to a limit. */
export function firstUsable(port: SlicePort, isLocal: boolean, most: number): readonly Endpoint[] {
  if (port instanceof SharingPort) return port.at(port.shared.usable(isLocal).slice(0, most));
  return subset(port.endpoints, (endpoint) => endpoint.isLocal === isLocal && isUsable(endpoint)).slice(
    0,
    most,
  );
}

/** Endpoints that many ports have, in the order of `ip:port`, which is the same for each port. */
class SharedEndpoints {
  private local: readonly Endpoint[] | undefined;
  private remote: readonly Endpoint[] | undefined;

  constructor(readonly list: readonly Endpoint[]) {}

  usable(isLocal: boolean): readonly Endpoint[] {
    if (isLocal) return (this.local ??= this.list.filter((each) => each.isLocal && isUsable(each)));
    return (this.remote ??= this.list.filter((each) => !each.isLocal && isUsable(each)));
  }

  /** These, or equal ones of an earlier slice. */
  orEarlier(earlier: SharedEndpoints): SharedEndpoints {
    const { list } = this;
    const isEqual =
      list.length === earlier.list.length &&
      list.every((endpoint, index) => sameEndpoint(endpoint, earlier.list[index]!));
    return isEqual ? earlier : this;
  }
}

class SharingPort implements SlicePort {
  constructor(
    readonly name: string,
    readonly protocol: Protocol,
    private readonly port: number,
    readonly shared: SharedEndpoints,
  ) {}

  get endpoints(): readonly Endpoint[] {
    return this.at(this.shared.list);
  }

  at(endpoints: readonly SliceEndpoint[]): readonly Endpoint[] {
    return endpoints.map((endpoint) => atPort(endpoint, this.port));
  }

  /** @param shared equal to its own */
  sharing(shared: SharedEndpoints): SharingPort {
    return new SharingPort(this.name, this.protocol, this.port, shared);
  }

  equals({ name, protocol, port, shared }: SharingPort): boolean {
    return name === this.name && protocol === this.protocol && port === this.port && shared === this.shared;
  }
}

function isUsable({ ready, serving, terminating }: Endpoint): boolean {
  return ready || (serving && terminating);
}

function atPorts(endpoints: readonly SliceEndpoint[], port: number): readonly Endpoint[] {
  return sortedOnce(endpoints.map((endpoint) => atPort(endpoint, port)));
}

/** The slice, with what an earlier version of it has in common; the earlier one itself if they are equal. */
export function sharedWithEarlier(earlier: EndpointSlice, slice: EndpointSlice): EndpointSlice {
  const ports = sharedPorts(earlier.ports, slice.ports);
  const isEqual =
    ports.length === earlier.ports.length &&
    ports.every((port, index) => port === earlier.ports[index]) &&
    slice.service === earlier.service &&
    slice.family === earlier.family &&
    slice.portless === earlier.portless &&
    slice.triggerTime === earlier.triggerTime;
  return isEqual ? earlier : { ...slice, ports };
}

function sharedPorts(earlier: readonly SlicePort[], ports: readonly SlicePort[]): readonly SlicePort[] {
  const [before, after] = [earlier[0], ports[0]];
  if (!(after instanceof SharingPort)) return ports.map((port, index) => sharedPort(earlier[index], port));
  if (!(before instanceof SharingPort)) return ports;
  const shared = after.shared.orEarlier(before.shared);
  return (ports as readonly SharingPort[]).map((port, index) => {
    const previous = earlier[index] as SharingPort | undefined;
    const sharing = shared === port.shared ? port : port.sharing(shared);
    return previous && sharing.equals(previous) ? previous : sharing;
  });
}

function sharedPort(earlier: SlicePort | undefined, { name, protocol, endpoints }: SlicePort): SlicePort {
  if (!earlier || earlier instanceof SharingPort) return { name, protocol, endpoints };
  const shared = sharedWith(earlier.endpoints, endpoints);
  const isEqual = shared === earlier.endpoints && name === earlier.name && protocol === earlier.protocol;
  return isEqual ? earlier : { name, protocol, endpoints: shared };
}

/**
 * Written out, because it runs for every endpoint and a spread costs several times as much. One of which nothing more is known has no
 * fields for it, as memory grows with each.
 */
function atPort(endpoint: SliceEndpoint, port: number): Endpoint {
  const { address, isLocal, ready, serving, terminating, zoneHints, nodeHints } = endpoint;
  const { pod, nodeName, zone, weight } = endpoint;
  const base = { address, port, isLocal, ready, serving, terminating, zoneHints, nodeHints };
  if (weight !== undefined) return { ...base, pod, nodeName, zone, weight };
  if (pod === undefined && nodeName === undefined && zone === undefined) return base;
  return { address, port, isLocal, ready, serving, terminating, zoneHints, nodeHints, pod, nodeName, zone };
}
