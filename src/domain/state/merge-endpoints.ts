import { sortedOnce, type Endpoint, type PortIdentity } from '../model/endpoint.js';
import type { EndpointSlice } from '../model/endpoint-slice.js';

const NONE: readonly Endpoint[] = [];

/**
 * The endpoints of one service port from all slices of its Service: sorted by `ip:port`, each once (docs/spec/model.md §3.3).
 * Among duplicates the last slice by name wins, so that the result does not depend on the order of events.
 */
export function mergeEndpoints(
  slices: readonly EndpointSlice[],
  { port, protocol }: PortIdentity,
): readonly Endpoint[] {
  const lists: (readonly Endpoint[])[] = [];
  for (const slice of inNameOrder(slices)) {
    for (const { name, protocol: spoken, endpoints } of slice.ports)
      if (name === port && spoken === protocol) lists.push(endpoints);
  }
  return lists.length < 2 ? (lists[0] ?? NONE) : sortedOnce(lists.flat());
}

function inNameOrder(slices: readonly EndpointSlice[]): readonly EndpointSlice[] {
  return slices.length < 2 ? slices : [...slices].sort((a, b) => (a.name < b.name ? -1 : 1));
}
