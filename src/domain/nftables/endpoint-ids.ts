import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { endpointPlace, type Endpoint } from '../model/endpoint.js';
import { getOrMake } from '../model/get-or-make.js';
import { textHash } from '../model/text-hash.js';
import { slotNames } from '../balancing/slots.js';
import { FIRST_NUMBER } from './layout/node-rules.js';
import { formatPriority } from './layout/priority.js';
import { FIRST_NAMED } from './layout/traffic-class.js';

const ID_SPAN = 0x7ffffffe;
/** Below the priority `root`. */
const NAMED_SPAN = 0x3fffffff;

const numbered = new WeakMap<readonly Endpoint[], readonly string[]>();

/**
 * The numbers of the endpoints of a list, in its order, to which slots lead. A number depends on what the endpoint is called in tables,
 * so it stays the same when others come and go. Kept as long as the list.
 */
export function namedNumbers(list: readonly Endpoint[]): readonly string[] {
  return getOrMake(numbered, list, () => {
    const taken = new Set<number>();
    return slotNames(list).map((name) =>
      formatPriority(FIRST_NAMED + free(textHash(name), NAMED_SPAN, taken)),
    );
  });
}

/** The first number from the hash on that is not taken, below the span; it is taken from then on. */
function free(hash: number, span: number, taken: Set<number>): number {
  let offset = hash % span;
  while (taken.has(offset)) offset = (offset + 1) % span;
  taken.add(offset);
  return offset;
}

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
  for (const text of texts) ids.set(text, FIRST_NUMBER + free(textHash(`${key} ${text}`), ID_SPAN, taken));
  return ids;
}
