import type { Endpoint, PortIdentity } from '../model/endpoint.js';
import type { EndpointSlice, SliceEndpoint } from '../model/endpoint-slice.js';
import { hostPort } from '../net/address.js';

/**
 * The endpoints of one service port from all slices of its Service: merged, each `ip:port` once, sorted by that text
 * (spec/model.md 3.3). Among duplicates one that is not terminating wins over one that is; among several of those the
 * slice that is last by name, so that the result does not depend on the order of events.
 */
export function mergeEndpoints(
  slices: readonly EndpointSlice[],
  { port, protocol }: PortIdentity,
): readonly Endpoint[] {
  const found: Endpoint[] = [];
  for (const slice of inNameOrder(slices)) {
    for (const slicePort of slice.ports) {
      if (slicePort.name !== port || slicePort.protocol !== protocol) continue;
      for (const endpoint of slice.endpoints) {
        found.push(atPort(endpoint, slicePort.port, hostPort(endpoint.address, slicePort.port)));
      }
    }
  }
  return withoutDuplicates(found.sort((a, b) => (a.text < b.text ? -1 : a.text === b.text ? 0 : 1)));
}

/** Equal texts stand side by side, in the order in which they were found. */
function withoutDuplicates(sorted: readonly Endpoint[]): readonly Endpoint[] {
  if (sorted.every((endpoint, index) => endpoint.text !== sorted[index - 1]?.text)) return sorted;
  const byText = new Map<string, Endpoint>();
  for (const endpoint of sorted) {
    if (!endpoint.terminating || !byText.has(endpoint.text)) byText.set(endpoint.text, endpoint);
  }
  return [...byText.values()];
}

/** Written out, since it runs for every endpoint there is and a spread costs several times as much. */
function atPort(endpoint: SliceEndpoint, port: number, text: string): Endpoint {
  const { address, isLocal, ready, serving, terminating, zoneHints, nodeHints } = endpoint;
  return { address, port, text, isLocal, ready, serving, terminating, zoneHints, nodeHints };
}

function inNameOrder(slices: readonly EndpointSlice[]): readonly EndpointSlice[] {
  return slices.length < 2 ? slices : [...slices].sort((a, b) => (a.name < b.name ? -1 : 1));
}
