import type { ChangeEntry } from '../../../../../application/status/change-entry.js';
import { hostPort } from '../../../../../domain/net/ip-family.js';
import type {
  EndpointExplanation,
  FrontendExplanation,
} from '../../../../application/explain/explanation.js';
import { endpointWords } from '../../../../application/words.js';
import { addressRank, clockTime, sortedBy } from '../text.js';

/** When the newest endpoints were added, in RFC 3339, by `ip:port`. */
export type Arrivals = ReadonlyMap<string, string>;

const MOST_ARRIVALS = 5;

/** The endpoints that were added last and not removed since. @param changes the oldest first */
export function lastArrivals(changes: readonly ChangeEntry[]): Arrivals {
  const arrivals = new Map<string, string>();
  const removed = new Set<string>();
  for (const change of changes.toReversed()) {
    if (change.kind !== 'service-port') continue;
    for (const text of change.endpointChange.examples) {
      const address = text.slice(1);
      if (text.startsWith('-')) removed.add(address);
      else if (!removed.has(address) && !arrivals.has(address) && arrivals.size < MOST_ARRIVALS)
        arrivals.set(address, change.time);
    }
  }
  return arrivals;
}

type Addressed = Pick<EndpointExplanation, 'address' | 'port'>;

/** The newest endpoints first, then the others by address. */
export function newestFirst<Endpoint extends Addressed>(
  endpoints: readonly Endpoint[],
  arrivals: Arrivals,
): readonly Endpoint[] {
  const byAddress = sortedBy(endpoints, (endpoint) => addressRank(addressOf(endpoint)));
  return sortedBy(byAddress, (endpoint) => arrivals.get(addressOf(endpoint)) ?? '', true);
}

/** `10.96.0.80:80`, `[fd00::1]:80`, or the number of a node port. */
export function addressOf({ address, port }: Pick<FrontendExplanation, 'address' | 'port'>): string {
  return address === undefined ? `*:${port}` : hostPort(address, port);
}

/** Whether an endpoint is used, its conditions, and when it was added, if that is news. */
export function endpointText(endpoint: EndpointExplanation, arrivals: Arrivals): string {
  const cameAt = arrivals.get(addressOf(endpoint));
  return `${cameAt === undefined ? '' : `came ${clockTime(cameAt)}, `}${endpointWords(endpoint)}`;
}
