import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { endpointPlace } from '../model/endpoint.js';
import { textHash } from '../model/text-hash.js';
import { FIRST_NUMBER } from './layout/node-rules.js';

const ID_SPAN = 0x7ffffffe;

/**
 * A number for each endpoint of a service port with session affinity, by `ip:port`. It depends only on the names, so it
 * stays the same when other endpoints change and after restarts. Two endpoints of one service port never share a
 * number; if hashes collide, the later endpoint by text gets the next number.
 */
export function endpointIds({
  key,
  endpoints: { cluster = [], local = [] },
}: ForwardingEntry): ReadonlyMap<string, number> {
  const texts = [...new Set([...cluster, ...local].map(endpointPlace))].sort();
  const taken = new Set<number>();
  const ids = new Map<string, number>();
  for (const text of texts) {
    let offset = textHash(`${key} ${text}`) % ID_SPAN;
    while (taken.has(offset)) offset = (offset + 1) % ID_SPAN;
    taken.add(offset);
    ids.set(text, FIRST_NUMBER + offset);
  }
  return ids;
}
