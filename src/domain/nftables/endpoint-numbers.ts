import type { ForwardingEntry } from '../forwarding/forwarding-entry.js';
import { endpointPlace, forEachPlace, lackedBy, type Endpoint } from '../model/endpoint.js';
import { getOrMake } from '../model/maps.js';
import { textHash } from '../model/text.js';
import type { TableOwners } from '../balancing/balancing.js';
import { slotCount, slotNames } from '../balancing/slots.js';
import { FIRST_NUMBER } from './layout/node-rules.js';
import { formatPriority } from './layout/table.js';
import { FIRST_NAMED, MAX_AFFINITY_ENDPOINTS } from './layout/traffic-class.js';

/** The lists of endpoints of a service port. */
export type ListName = keyof TableOwners;

export const LISTS: readonly ListName[] = ['cluster', 'local'];

const ID_SPAN = 0x7ffffffe;
/** Below the priority `root`. */
const NAMED_SPAN = 0x3fffffff;
/** Lists with at least as many endpoints keep the numbers of those that stay: 1,000 of 10,000 come in 20 ms instead of 60 ms. */
const LONG = 512;

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

/** The ids of endpoints, as elements have them, by endpoint as the entry has it. */
export type EndpointIds = ReadonlyMap<Endpoint, string>;

/**
 * A number for each endpoint of a service port with session affinity. It depends only on the names, so it stays the same when other
 * endpoints change and after restarts. Two endpoints of one service port never share a number; if hashes collide, the later endpoint by
 * text gets the next number.
 */
export function endpointIds({ key, endpoints: { cluster = [], local = [] } }: ForwardingEntry): EndpointIds {
  const endpoints = [...new Set([...cluster, ...local])];
  const hashes = endpoints.map((endpoint) => textHash(`${key} ${endpointPlace(endpoint)}`) % ID_SPAN);
  const collide = new Set(hashes).size < hashes.length;
  const offsets = collide ? withoutCollisions(endpoints, hashes) : hashes;
  return new Map(
    endpoints.map((endpoint, index) => [endpoint, formatPriority(FIRST_NUMBER + offsets[index]!)]),
  );
}

function withoutCollisions(endpoints: readonly Endpoint[], hashes: readonly number[]): readonly number[] {
  const hashOf = new Map(endpoints.map((endpoint, index) => [endpointPlace(endpoint), hashes[index]!]));
  const taken = new Set<number>();
  const offsets = new Map(
    [...hashOf.keys()].sort().map((place) => [place, free(hashOf.get(place)!, ID_SPAN, taken)]),
  );
  return endpoints.map((endpoint) => offsets.get(endpointPlace(endpoint))!);
}

/** The endpoints of a list that can be chosen: with session affinity their number is limited. */
export function chosenFrom(
  { endpoints, affinitySeconds }: ForwardingEntry,
  name: ListName,
): readonly Endpoint[] {
  const list = endpoints[name] ?? [];
  return affinitySeconds > 0 && list.length > MAX_AFFINITY_ENDPOINTS
    ? list.slice(0, MAX_AFFINITY_ENDPOINTS)
    : list;
}

const counts = new WeakMap<ForwardingEntry, Map<ListName, number | undefined>>();

/** How many slots the table of the list has; undefined if it needs none. With affinity, a class number has room for primes only. */
export function slotsOfList(entry: ForwardingEntry, name: ListName): number | undefined {
  const { balancing, affinitySeconds } = entry;
  if (!balancing) return undefined;
  return getOrMake(
    getOrMake(counts, entry, () => new Map<ListName, number | undefined>()),
    name,
    () => slotCount(chosenFrom(entry, name), balancing, affinitySeconds > 0),
  );
}

/** How the endpoints of an entry are numbered: by their positions in an order of each list, and with session affinity by id. */
export interface EndpointNumbers {
  readonly lists: Readonly<Record<ListName, NumberedList>>;
  /** Without session affinity there are none. */
  readonly ids: EndpointIds | undefined;
}

export interface NumberedList {
  /** Those that can be chosen, sorted. */
  readonly list: readonly Endpoint[];
  /** The same in the order of their numbers. */
  readonly order: readonly Endpoint[];
}

/** @param former of the entry before, if its lists were long */
export function endpointNumbers(entry: ForwardingEntry, former?: EndpointNumbers): EndpointNumbers {
  const listOf = (name: ListName): NumberedList => {
    const list = chosenFrom(entry, name);
    const isInOrder = entry.affinitySeconds > 0 || slotsOfList(entry, name) === undefined;
    const before = isInOrder && list.length >= LONG ? former?.lists[name] : undefined;
    return { list, order: before ? orderAfter(before, list) : list };
  };
  return {
    lists: { cluster: listOf('cluster'), local: listOf('local') },
    ids: entry.affinitySeconds > 0 ? endpointIds(entry) : undefined,
  };
}

/** Whether the numbers of its endpoints are kept: they cost memory, and without them a change of few endpoints costs time. */
export function hasLongList({ endpoints: { cluster, local } }: ForwardingEntry): boolean {
  return (cluster?.length ?? 0) >= LONG || (local?.length ?? 0) >= LONG;
}

/**
 * An order of the list in which the endpoints of the previous list keep their positions. Others fill the positions
 * that are left; if none are, as the list is shorter now, the last endpoints of the previous order do.
 */
function orderAfter(former: NumberedList, list: readonly Endpoint[]): readonly Endpoint[] {
  const renewed = new Map<Endpoint, Endpoint | undefined>();
  const others: Endpoint[] = [];
  forEachPlace(list, former.list, (position, before) => {
    const [earlier, endpoint] = [former.list[before], list[position]!];
    if (!earlier) others.push(endpoint);
    else if (earlier !== endpoint) renewed.set(earlier, endpoint);
  });
  for (const gone of lackedBy(list, former.list)) renewed.set(gone, undefined);
  if (renewed.size === 0 && others.length === 0) return former.order;
  const order = former.order.map((endpoint) => (renewed.has(endpoint) ? renewed.get(endpoint) : endpoint));
  for (const last of order.splice(list.length)) if (last) others.push(last);
  let next = 0;
  return Array.from(list, (_, position) => order[position] ?? others[next++]!);
}
