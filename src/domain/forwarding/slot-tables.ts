import { effectiveWeightOf, type TableOwners } from '../balancing/balancing.js';
import type { SlotDemand } from '../balancing/slot-budget.js';
import { MOST_SLOTS, slotCount, slotNames, tableNumber } from '../balancing/slots.js';
import type { Endpoint } from '../model/endpoint.js';
import { getOrMake } from '../model/maps.js';
import type { ServicePortKey } from '../model/service-port-name.js';
import type { ForwardingEntry } from './forwarding-entry.js';

/** The entries of a Service, those with tables of slots with the owners of their tables. */
export function withTableOwners(entries: readonly ForwardingEntry[]): readonly ForwardingEntry[] {
  if (entries.length < 2 || !entries.some(({ balancing }) => balancing)) return entries;
  const [cluster, local] = [ownersOf(entries, 'cluster'), ownersOf(entries, 'local')];
  const known = new Map<string, TableOwners>();
  return entries.map((entry) => {
    const { key, balancing, endpoints } = entry;
    if (!balancing) return entry;
    const owners = { cluster: cluster(endpoints.cluster) ?? key, local: local(endpoints.local) ?? key };
    if (owners.cluster === key && owners.local === key) return entry;
    const tables = getOrMake(known, `${owners.cluster} ${owners.local}`, () => owners);
    return { ...entry, balancing: { ...balancing, tables } };
  });
}

type List = readonly Endpoint[] | undefined;

/** Finds the first port by key of those whose lists of that name make the same table. */
function ownersOf(
  entries: readonly ForwardingEntry[],
  name: keyof TableOwners,
): (list: List) => ServicePortKey | undefined {
  const texts = new Map<List, string>();
  const owners = new Map<string, ServicePortKey>();
  for (const { key, balancing, endpoints } of entries) {
    const list = endpoints[name];
    if (!balancing || !list) continue;
    const text = getOrMake(texts, list, () => tableText(list));
    const owner = owners.get(text);
    if (owner === undefined || key < owner) owners.set(text, key);
  }
  return (list) => owners.get(texts.get(list) ?? '');
}

/** The same for lists of endpoints that make the same table, by any method. */
function tableText(list: readonly Endpoint[]): string {
  const names = slotNames(list);
  return list.map((endpoint, place) => `${names[place]!} ${effectiveWeightOf(endpoint)}`).join();
}

/** Whether two lists of endpoints make the same table, by any method. */
export function makesSameTable(one: readonly Endpoint[], other: readonly Endpoint[]): boolean {
  return one === other || (one.length === other.length && tableText(one) === tableText(other));
}

/** The tables that a Service with these entries needs; undefined if it needs none. */
export function slotDemand(entries: readonly ForwardingEntry[]): SlotDemand | undefined {
  const tables = entries.flatMap(ownTables);
  if (tables.length === 0) return undefined;
  const numbers = tables.map(({ number }) => number);
  const longest = tables.reduce((most, { endpoints }) => Math.max(most, endpoints), 0);
  const createdAt = entries[0]?.createdAt;
  return { slots: slotsIn(tables), tables: numbers, createdAt, obstacle: obstacleTo(numbers, longest) };
}

/** How many slots the tables that the entry owns have together. */
export function ownSlots(entry: ForwardingEntry): number {
  return entry.balancing ? slotsIn(ownTables(entry)) : 0;
}

interface OwnTable {
  readonly number: number;
  readonly slots: number;
  readonly endpoints: number;
}

const NO_TABLES: readonly OwnTable[] = [];
const known = new WeakMap<ForwardingEntry, readonly OwnTable[]>();

function ownTables(entry: ForwardingEntry): readonly OwnTable[] {
  if (!entry.balancing) return NO_TABLES;
  return getOrMake(known, entry, () => {
    const { key, endpoints, balancing, affinitySeconds } = entry;
    return (['cluster', 'local'] as const).flatMap((name): readonly OwnTable[] => {
      const list = endpoints[name];
      if (!list || (balancing!.tables?.[name] ?? key) !== key) return NO_TABLES;
      const slots = slotCount(list, balancing!, affinitySeconds > 0);
      if (slots === undefined) return NO_TABLES;
      return [{ number: tableNumber(key, name), slots, endpoints: list.length }];
    });
  });
}

function slotsIn(tables: readonly OwnTable[]): number {
  return tables.reduce((sum, { slots }) => sum + slots, 0);
}

function obstacleTo(tables: readonly number[], longest: number): string | undefined {
  if (longest > MOST_SLOTS) return `a table has at most ${MOST_SLOTS} slots, for ${longest} endpoints`;
  return new Set(tables).size < tables.length ? 'two of its tables have the same number' : undefined;
}

/** The entries of a Service, balanced as requested, or at random for this reason, which the first of them reports. */
export function balanced(
  entries: readonly ForwardingEntry[],
  denied: string | undefined,
): readonly ForwardingEntry[] {
  if (denied === undefined && !entries.some(({ deniedBalancing }) => deniedBalancing)) return entries;
  let reason = denied;
  return entries.map((entry) => {
    const { deniedBalancing } = entry;
    const balancing = deniedBalancing?.balancing ?? entry.balancing;
    if (!balancing) return entry;
    if (denied === undefined) return { ...entry, balancing, deniedBalancing: undefined };
    const own = reason;
    reason = undefined;
    return { ...entry, balancing: undefined, deniedBalancing: { balancing, reason: own } };
  });
}
