import type { ChangeEntry } from '../../../../../../application/status/change-entry.js';
import { addressOrder } from '../../address-order.js';
import { compare } from '../../compare.js';
import { endpointAddress, type Addressed } from './words.js';

/** When endpoints came, in RFC 3339, by `ip:port`. */
export type Arrivals = ReadonlyMap<string, string>;

/** Only the last ones are news. */
const MOST_NEWS = 5;

/** The endpoints that came last and have not left since, as the history tells. @param changes the oldest first */
export function lastArrivals(changes: readonly ChangeEntry[]): Arrivals {
  const arrivals = new Map<string, string>();
  const left = new Set<string>();
  for (const change of [...changes].reverse()) {
    if (change.what !== 'service-port') continue;
    for (const text of change.endpoints.some) {
      const place = text.slice(1);
      if (text.startsWith('-')) left.add(place);
      else if (!left.has(place) && !arrivals.has(place) && arrivals.size < MOST_NEWS)
        arrivals.set(place, change.at);
    }
  }
  return arrivals;
}

/** Those that came last come first, the newest before all; the others by address. */
export function inOrder<Endpoint extends Addressed>(
  endpoints: readonly Endpoint[],
  arrivals: Arrivals,
): readonly Endpoint[] {
  return endpoints
    .map((endpoint) => {
      const place = endpointAddress(endpoint);
      return { endpoint, at: arrivals.get(place) ?? '', order: addressOrder(place) };
    })
    .sort((a, b) => compare(b.at, a.at) || compare(a.order, b.order))
    .map(({ endpoint }) => endpoint);
}
