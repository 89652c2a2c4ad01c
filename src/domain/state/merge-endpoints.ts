import { sortedOnce, type Endpoint, type PortIdentity } from '../model/endpoint.js';
import { grouped } from '../model/grouped.js';
import { endpointCount, firstUsable, type EndpointSlice, type SlicePort } from '../model/endpoint-slice.js';

const NONE: readonly Endpoint[] = [];

/** With more ports than this in all slices of a Service, they are not searched one by one. */
const FEW = 8;

/**
 * The endpoints of each service port from all slices of its Service: sorted by `ip:port`, each once (docs/spec/model.md §3.3).
 * Among duplicates the last slice by name wins, so that the result does not depend on the order of events.
 * @param most of more endpoints so many are taken: those on this node first, then those of the first slices by name; none that cannot
 * get traffic
 */
export function mergeEndpoints(
  slices: readonly EndpointSlice[],
  most = Infinity,
): (port: PortIdentity) => readonly Endpoint[] {
  const portsOf = portsInNameOrder(slices);
  return (port) => {
    const ports = portsOf(port);
    if (ports.length === 0) return NONE;
    if (countOf(ports) > most) return sortedOnce(limited(ports, most));
    return ports.length === 1 ? ports[0]!.endpoints : sortedOnce(ports.flatMap(({ endpoints }) => endpoints));
  };
}

/** How many endpoints the slices have for each service port; those that are in several slices count as often. */
export function countEndpoints(slices: readonly EndpointSlice[]): (port: PortIdentity) => number {
  const portsOf = portsInNameOrder(slices);
  return (port) => countOf(portsOf(port));
}

function countOf(ports: readonly SlicePort[]): number {
  return ports.reduce((sum, port) => sum + endpointCount(port), 0);
}

function limited(ports: readonly SlicePort[], most: number): readonly Endpoint[] {
  const taken: Endpoint[] = [];
  for (const isLocal of [true, false])
    for (const port of ports) {
      if (taken.length === most) return taken;
      taken.push(...firstUsable(port, isLocal, most - taken.length));
    }
  return taken;
}

type PortsOf = (port: PortIdentity) => readonly SlicePort[];

/** Of many ports: endpoints are counted first, and then merged. */
const known = new WeakMap<readonly EndpointSlice[], PortsOf>();

function portsInNameOrder(slices: readonly EndpointSlice[]): PortsOf {
  const found = known.get(slices);
  if (found) return found;
  const sorted = slices.length < 2 ? slices : [...slices].sort((a, b) => (a.name < b.name ? -1 : 1));
  const ports = sorted.flatMap((slice) => slice.ports);
  if (ports.length <= FEW) return searched(ports);
  const portsOf = indexed(ports);
  known.set(slices, portsOf);
  return portsOf;
}

function searched(ports: readonly SlicePort[]): PortsOf {
  return ({ port, protocol }) => ports.filter((each) => each.name === port && each.protocol === protocol);
}

function indexed(ports: readonly SlicePort[]): PortsOf {
  const index = grouped(ports, ({ protocol, name }) => `${protocol}/${name}`);
  return ({ port, protocol }) => index.get(`${protocol}/${port}`) ?? NO_PORTS;
}

const NO_PORTS: readonly SlicePort[] = [];
