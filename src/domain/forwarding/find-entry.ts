import type { ServicePortKey } from '../model/service-port-name.js';
import type { ForwardingEntry } from './forwarding-entry.js';

type Index = ReadonlyMap<ServicePortKey, ForwardingEntry>;

/** Up to so many are searched one by one: nearly all Services have fewer ports. */
const FEW = 8;

/** Of long lists, as long as these live. */
const indexes = new WeakMap<readonly ForwardingEntry[], Index>();

/** The entry of that key among those of a Service. Of many, the first search costs as much as all of them, each further one nothing. */
export function findEntry(
  entries: readonly ForwardingEntry[],
  key: ServicePortKey,
): ForwardingEntry | undefined {
  if (entries.length <= FEW) return entries.find((entry) => entry.key === key);
  let index = indexes.get(entries);
  if (!index) indexes.set(entries, (index = new Map(entries.map((entry) => [entry.key, entry]))));
  return index.get(key);
}
