import { endpointPlace, type Endpoint } from '../model/endpoint.js';
import { isHashed, weightOf, type Balancing } from './balancing.js';
import { maglevTable } from './maglev-table.js';
import { turns, turnsOfPeriod } from './turns.js';

/** Primes, for tables of slots: each slot is an element in the kernel, once for each frontend. */
export const TABLE_SIZES = [1021, 4093, 16_381, 65_521] as const;

/** As many slots as this for the lightest endpoint keep every share within one percent of itself. */
const SLOTS_FOR_THE_LIGHTEST = 100;

/**
 * Hashed tables have at least this many slots, and with more than FEW_HASHED endpoints the most: then less than one percent of the
 * slots moves beyond the share of an endpoint that comes or goes.
 */
const LEAST_HASHED = 16_381;
const FEW_HASHED = 24;

/** Weights whose period is not longer are met exactly, slot by slot. */
const LONGEST_PERIOD = 1021;

/** The slots of a list of endpoints: each is the place of an endpoint in the list. */
export type Slots = ArrayLike<number>;

/** Lists are kept as long as entries are. */
const tables = new WeakMap<readonly Endpoint[], Map<string, Slots>>();

/**
 * The slots that a choice among the list is made of, if it takes more than a number for each endpoint; undefined if it does not.
 * All nodes with the same list have the same slots.
 * @param isPrime as many slots as one of TABLE_SIZES, whatever would do
 */
export function slotsOf(
  list: readonly Endpoint[],
  { method, isWeighted }: Balancing,
  isPrime = false,
): Slots | undefined {
  if (list.length < 2) return undefined;
  const isTable = isPrime || isHashed(method);
  if (!isTable && !isWeighted) return undefined;
  const key = isTable ? `table ${isHashed(method)}` : 'period';
  const known = tables.get(list) ?? new Map<string, Slots>();
  tables.set(list, known);
  const found = known.get(key) ?? made(list, isTable, isHashed(method));
  known.set(key, found);
  return found;
}

/** How many of how many slots an endpoint has. */
export interface SlotShare {
  readonly slots: number;
  readonly of: number;
}

/** The share of new connections that each endpoint of the list gets, by its place in the list. */
export function slotShares(list: readonly Endpoint[], balancing: Balancing): readonly SlotShare[] {
  const slots = slotsOf(list, balancing);
  if (!slots) return list.map(() => ({ slots: 1, of: list.length }));
  const counts = new Uint32Array(list.length);
  for (let slot = 0; slot < slots.length; slot++) counts[slots[slot]!]!++;
  return Array.from(counts, (count) => ({ slots: count, of: slots.length }));
}

function made(list: readonly Endpoint[], isTable: boolean, isHash: boolean): Slots {
  const weights = list.map(weightOf);
  const period = turnsOfPeriod(weights);
  if (!isTable && period <= LONGEST_PERIOD) return firstTurns(weights, period);
  return maglevTable(list.map(endpointPlace), weights, tableSize(weights, isHash));
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
  const wanted = (SLOTS_FOR_THE_LIGHTEST * total) / lightest;
  const least = !isHash ? 0 : weights.length > FEW_HASHED ? Infinity : LEAST_HASHED;
  return TABLE_SIZES.find((size) => size >= Math.max(wanted, least)) ?? TABLE_SIZES.at(-1)!;
}
