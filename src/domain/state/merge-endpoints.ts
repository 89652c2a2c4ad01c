import { sortedOnce, type Endpoint, type PortIdentity } from '../model/endpoint.js';
import type { EndpointSlice, SlicePort } from '../model/endpoint-slice.js';
import { append } from '../model/grouped.js';

const NONE: readonly Endpoint[] = [];

type Lists = readonly (readonly Endpoint[])[];

/** With more ports than this in all slices of a Service, they are not searched one by one. */
const FEW = 8;

/**
 * The endpoints of each service port from all slices of its Service: sorted by `ip:port`, each once (docs/spec/model.md §3.3).
 * Among duplicates the last slice by name wins, so that the result does not depend on the order of events.
 */
export function mergeEndpoints(
  slices: readonly EndpointSlice[],
): (port: PortIdentity) => readonly Endpoint[] {
  const ports = inNameOrder(slices).flatMap((slice) => slice.ports);
  const listsOf = ports.length > FEW ? indexed(ports) : searched(ports);
  return (port) => {
    const lists = listsOf(port);
    return lists.length < 2 ? (lists[0] ?? NONE) : sortedOnce(lists.flat());
  };
}

function searched(ports: readonly SlicePort[]): (port: PortIdentity) => Lists {
  return ({ port, protocol }) =>
    ports.flatMap((each) => (each.name === port && each.protocol === protocol ? [each.endpoints] : []));
}

function indexed(ports: readonly SlicePort[]): (port: PortIdentity) => Lists {
  const lists = new Map<string, (readonly Endpoint[])[]>();
  for (const { name, protocol, endpoints } of ports) append(lists, `${protocol}/${name}`, endpoints);
  return ({ port, protocol }) => lists.get(`${protocol}/${port}`) ?? [];
}

function inNameOrder(slices: readonly EndpointSlice[]): readonly EndpointSlice[] {
  return slices.length < 2 ? slices : [...slices].sort((a, b) => (a.name < b.name ? -1 : 1));
}
