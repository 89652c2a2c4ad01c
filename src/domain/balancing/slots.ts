import { endpointPlace, type Endpoint } from '../model/endpoint.js';
import type { ServicePortKey } from '../model/service-port-name.js';
import { textHash } from '../model/text.js';
import {
  isHashed,
  isWeightedList,
  effectiveWeightOf,
  weightOf,
  type Balancing,
  type TableOwners,
} from './balancing.js';

/**
 * Primes, the sizes of tables: each slot is an element in the kernel. Neighbours differ by a factor of two, because nearly all slots
 * get another endpoint when the size changes.
 */
export const TABLE_SIZES = [1021, 2039, 4093, 8191, 16_381] as const;

/** More endpoints than this cannot all have a slot. */
export const MOST_SLOTS = TABLE_SIZES.at(-1)!;

/** As many slots as this for the lightest endpoint keep every share within one percent of itself. */
const SLOTS_FOR_THE_LIGHTEST = 100;

/** Hashed tables of few endpoints have at least this many slots: with fewer, more of them move than an endpoint's own share. */
const LEAST_HASHED = 2039;

/** With least connections: enough for shares that are right to a few percent, and few enough to write some each second. */
const SLOTS_BY_CONNECTIONS = 20;

/** Weights whose period is not longer are met exactly, slot by slot. */
const LONGEST_PERIOD = 1021;

/** The slots of a list of endpoints: each is the place of an endpoint in the list. */
export type Slots = ArrayLike<number>;

/** Lists are kept as long as entries are. */
const tables = new WeakMap<readonly Endpoint[], Map<string, Slots>>();

/**
 * The slots that a choice among the list is made of, if it takes more than a number for each endpoint; undefined if it does not.
 * All nodes with the same list have the same slots.
 * @param isPrime a number of slots from TABLE_SIZES, even if fewer are sufficient
 */
export function slotsOf(
  list: readonly Endpoint[],
  balancing: Pick<Balancing, 'method'>,
  isPrime = false,
): Slots | undefined {
  const size = slotCount(list, balancing, isPrime);
  if (size === undefined) return undefined;
  const key = `${size} ${isTable(balancing, isPrime)}`;
  const known = tables.get(list) ?? new Map<string, Slots>();
  tables.set(list, known);
  const found = known.get(key) ?? made(list, balancing, isPrime, size);
  known.set(key, found);
  return found;
}

/** How many there are. Costs a walk through the list, where `slotsOf` makes a table. */
export function slotCount(
  list: readonly Endpoint[],
  balancing: Pick<Balancing, 'method'>,
  isPrime = false,
): number | undefined {
  if (list.length < 2) return undefined;
  const { method } = balancing;
  // The weights of the moment do not matter: a table of another size would be written from scratch.
  if (method === 'least-connections') return sizeFor(SLOTS_BY_CONNECTIONS * list.length);
  const isWhole = isTable(balancing, isPrime);
  if (!isWhole && !isWeightedList(list)) return undefined;
  const weights = list.map(weightOf);
  return (isWhole ? undefined : shortPeriod(weights)) ?? tableSize(weights, isHashed(method));
}

/** Whether the slots are a table, even where the turns of a short period are sufficient. */
function isTable({ method }: Pick<Balancing, 'method'>, isPrime: boolean): boolean {
  return isPrime || isHashed(method) || method === 'least-connections';
}

function shortPeriod(weights: readonly number[]): number | undefined {
  const period = turnsOfPeriod(weights);
  return period <= LONGEST_PERIOD ? period : undefined;
}

function made(
  list: readonly Endpoint[],
  balancing: Pick<Balancing, 'method'>,
  isPrime: boolean,
  size: number,
): Slots {
  const weights = list.map(effectiveWeightOf);
  return isTable(balancing, isPrime) || shortPeriod(weights) === undefined
    ? maglevTable(slotNames(list), weights, size)
    : firstTurns(weights, size);
}

/**
 * The names of endpoints in tables: their addresses, if all have the same port, so that ports of a Service with the same pods have
 * the same table.
 */
export function slotNames(list: readonly Endpoint[]): readonly string[] {
  const port = list[0]?.port;
  return list.every((endpoint) => endpoint.port === port)
    ? list.map(({ address }) => address)
    : list.map(endpointPlace);
}

/** The number of a table in the kernel, from 1 to 0xfffffffe. Two of them may have the same, which `SlotBudget` prevents. */
export function tableNumber(owner: ServicePortKey, list: keyof TableOwners): number {
  return 1 + (textHash(`${owner} ${list}`) % 0xfffffffe);
}

/** How many of how many slots an endpoint has. */
export interface SlotShare {
  readonly slots: number;
  readonly totalSlots: number;
}

/** The share of new connections that each endpoint of the list gets, by its place in the list. */
export function slotShares(
  list: readonly Endpoint[],
  balancing: Pick<Balancing, 'method'>,
): readonly SlotShare[] {
  const slots = slotsOf(list, balancing);
  if (!slots) return list.map(() => ({ slots: 1, totalSlots: list.length }));
  const counts = new Uint32Array(list.length);
  for (let slot = 0; slot < slots.length; slot++) counts[slots[slot]!]!++;
  return Array.from(counts, (count) => ({ slots: count, totalSlots: slots.length }));
}

function firstTurns(weights: readonly number[], count: number): Slots {
  const slots = new Uint32Array(count);
  const order = turns(weights);
  for (let slot = 0; slot < count; slot++) slots[slot] = order.next().value;
  return slots;
}

/** The number of slots for endpoints of these weights. Beyond the largest table, shares are less exact. */
export function tableSize(weights: readonly number[], isHash: boolean): number {
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const lightest = weights.reduce((least, weight) => Math.min(least, weight), Infinity);
  const wanted = Math.max((SLOTS_FOR_THE_LIGHTEST * total) / lightest, isHash ? LEAST_HASHED : 0);
  return sizeFor(wanted);
}

function sizeFor(wanted: number): number {
  return TABLE_SIZES.find((size) => size >= wanted) ?? MOST_SLOTS;
}

/**
 * The look-up table of Maglev (Eisenbud et al., NSDI 2016, section 3.4): each endpoint has its own order of all slots, and in turn
 * each takes the first one of its order that is free. So it depends on names and weights only, and an endpoint that comes or goes moves
 * little besides its own share. With weights an endpoint has turns in proportion to its own.
 * @param names of the endpoints, sorted, each once
 * @param weights of each, above 0
 * @param size prime, the number of slots
 * @returns by slot, the place of its endpoint in `names`
 */
export function maglevTable(names: readonly string[], weights: readonly number[], size: number): Uint32Array {
  const next = names.map((name) => textHash(name) % size);
  const skips = names.map((name) => (textHash(name, SKIP_SEED) % (size - 1)) + 1);
  const slots = new Uint32Array(size);
  const taken = new Uint8Array(size);
  let free = size;
  for (const place of turns(weights, true)) {
    const skip = skips[place]!;
    let slot = next[place]!;
    while (taken[slot] === 1) slot = (slot + skip) % size;
    taken[slot] = 1;
    slots[slot] = place;
    next[place] = (slot + skip) % size;
    if (--free === 0) break;
  }
  return slots;
}

/** Of the hash that determines the distance to an endpoint's next slot; the other one has the usual seed. */
const SKIP_SEED = 0x9747b28c;

/**
 * The order in which endpoints take turns, for ever: each in proportion to its weight, as evenly as whole turns allow.
 * @param weights above 0, whole
 * @param isEarly each has its first turn at the start, so that none is left out where turns are few
 * @returns places in `weights`
 */
function* turns(weights: readonly number[], isEarly = false): Generator<number, never> {
  const whole = isEarly ? Math.ceil : Math.floor;
  const greatest = weights.reduce((most, weight) => Math.max(most, weight), 0);
  for (let round = 1; ; round++)
    for (let place = 0; place < weights.length; place++) {
      const weight = weights[place]!;
      // Rounds that many are due after this one, but were not before.
      if (whole((weight * round) / greatest) > whole((weight * (round - 1)) / greatest)) yield place;
    }
}

/** After how many turns all have had as many as their weights say, exactly. */
function turnsOfPeriod(weights: readonly number[]): number {
  const divisor = weights.reduce(greatestCommonDivisor, 0);
  return weights.reduce((sum, weight) => sum + weight, 0) / divisor;
}

function greatestCommonDivisor(one: number, other: number): number {
  return other === 0 ? one : greatestCommonDivisor(other, one % other);
}
