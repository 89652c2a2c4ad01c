/** How the kernel's table differs from the desired one, and the smallest change that repairs it. */

import isEqual from 'fast-deep-equal';
import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import {
  isBehindKubeProxyMaps,
  MAP_OF_ANOTHER_LAYOUT,
} from '../../domain/nftables/layout/kube-proxy-maps.js';
import { rulesKeptForKubeProxy, type ChainRules } from '../../domain/nftables/layout/node-rules.js';
import type { KernelRule } from '../../domain/nftables/kernel/ruleset.js';
import type { ChainDefinition, SetDefinition, SetElement } from '../../domain/nftables/layout/table.js';
import type { DesiredSet, DesiredTable } from '../../domain/nftables/state/desired-table.js';
import { sameElement } from '../../domain/nftables/state/service-port-rules.js';
import { Transaction } from '../../domain/nftables/state/transaction.js';
import { setText } from './netlink/set-layout.js';
import type { TableState } from './transport.js';

/** How the kernel's table differs from the desired one, elements apart. */
interface TableDifference {
  /** Undefined: there is no table, or none that can be changed into the desired one. */
  readonly present: TableState | undefined;
  /** There is a table that cannot be changed into the desired one. */
  readonly replaces: boolean;
  readonly missingSets: readonly SetDefinition[];
  readonly unknownSets: readonly string[];
  readonly missingCounters: readonly string[];
  readonly unknownCounters: readonly string[];
  readonly missingChains: readonly ChainDefinition[];
  readonly unknownChains: readonly { readonly name: string; readonly rules: readonly KernelRule[] }[];
  /** The chains whose rules differ, those that are missing among them. */
  readonly chains: readonly ChainDifference[];
}

export interface ChainDifference {
  readonly chain: ChainRules;
  readonly actual: readonly KernelRule[];
}

/** One of the two is missing, or they lead elsewhere. */
interface ElementDifference {
  readonly actual: SetElement | undefined;
  readonly wanted: SetElement | undefined;
  /** The service port that requires it. */
  readonly owner: ServicePortKey | undefined;
}

export function tableDifference(
  desired: DesiredTable,
  state: TableState | undefined,
  family: IpFamily,
): TableDifference {
  const sets = desired.sets.map(({ set }) => set);
  const chains = desired.chains.map(({ chain }) => chain);
  const replaces =
    state !== undefined &&
    ((isOfAnotherLayout(state, family) && !desired.keepsKubeProxyRules) ||
      !fits(chains, sets, state, family));
  const present = replaces ? undefined : state;
  return {
    present,
    replaces,
    missingSets: sets.filter(({ name }) => !present?.sets.has(name)),
    unknownSets: unknown(present?.sets, sets, desired).map(([name]) => name),
    missingCounters: desired.counters.filter((name) => !present?.counters.has(name)),
    unknownCounters: [...(present?.counters ?? [])].filter((name) => !desired.counters.includes(name)),
    missingChains: chains.filter(({ name }) => !present?.chains.has(name)),
    unknownChains: unknown(present?.chains, chains, desired).map(([name, { rules }]) => ({ name, rules })),
    chains: desired.chains.flatMap((chain) => {
      const actual = present?.chains.get(chain.chain.name)?.rules ?? [];
      return isEqual(actual, chain.rules) ? [] : [{ chain, actual }];
    }),
  };
}

function unknown<T>(
  present: ReadonlyMap<string, T> | undefined,
  desired: readonly { readonly name: string }[],
  { keepsKubeProxyRules }: Pick<DesiredTable, 'keepsKubeProxyRules'>,
): readonly (readonly [string, T])[] {
  const names = new Set(desired.map(({ name }) => name));
  const isKept = (name: string): boolean => keepsKubeProxyRules && isBehindKubeProxyMaps(name);
  return [...(present ?? [])].filter(([name]) => !names.has(name) && !isKept(name));
}

/** The elements of a set in which the table differs; a dynamic set has none that are desired. */
export function* elementDifferences(
  { set, elements, owners }: DesiredSet,
  state: TableState | undefined,
): Generator<ElementDifference> {
  if (set.dynamicSize !== undefined) return;
  const present = state?.sets.get(set.name)?.elements ?? new Map<string, SetElement>();
  const known = new Set<string>();
  for (const [index, wanted] of elements.entries()) {
    known.add(wanted.key);
    const actual = present.get(wanted.key);
    if (!actual || !sameElement(actual, wanted)) yield { actual, wanted, owner: owners[index] };
  }
  for (const [key, actual] of present)
    if (!known.has(key)) yield { actual, wanted: undefined, owner: undefined };
}

/** Whether the table is kube-proxy's, or the oldest version's: what is ours in it may be of an old process. */
export function isOfAnotherLayout(state: TableState, family: IpFamily): boolean {
  if (!state.sets.has(MAP_OF_ANOTHER_LAYOUT)) return false;
  const services = state.chains.get('services')?.rules ?? [];
  const keeps = rulesKeptForKubeProxy(family);
  return !services.some((rule) => isEqual(rule, keeps));
}

/**
 * Base chains and sets cannot be changed in place: another hook, type or key needs a new table. So do what only another program
 * makes of ours: a table that sleeps, a set with an element for all keys, a chain that drops what no rule of it accepts: emptied, but
 * not removed yet, it would drop everything.
 */
export function fits(
  chains: readonly ChainDefinition[],
  sets: readonly SetDefinition[],
  state: TableState,
  family: IpFamily,
): boolean {
  return (
    !state.isDormant &&
    [...state.chains.values()].every(({ hook }) => hook === undefined || hook.policy === 'accept') &&
    chains.every(({ name, hook }) => {
      const present = state.chains.get(name);
      return !present || isEqual(present.hook, hook && { ...hook, policy: 'accept' });
    }) &&
    sets.every((set) => {
      const present = state.sets.get(set.name);
      return !present || present.layout === setText(family, set);
    })
  );
}

const TABLE_COMMENT = 'rules for kube-proxy';

/** The steps from the kernel's table to the desired one. */
interface TableRepair {
  /** To be applied together. Empty if nothing differs. */
  readonly repair: Transaction;
  /**
   * To be applied afterwards, one transaction after the other: removes sets, chains and counters that nothing refers to once
   * `repair` is applied. Sets come first, because their elements may lead to the chains; before Linux 6.2 both cannot
   * go together.
   */
  readonly removals: readonly Transaction[];
  /** The present table cannot be changed into the desired one, so it is replaced as a whole. */
  readonly replaces: boolean;
}

/**
 * The smallest change that turns the kernel's table into the desired one. The whole table belongs to the proxy, so anything
 * unknown is removed: chains of classes long unused, rules of other programs.
 */
export function tableRepair(
  desired: DesiredTable,
  state: TableState | undefined,
  family: IpFamily,
): TableRepair {
  const difference = tableDifference(desired, state, family);
  const { present, replaces } = difference;
  const repair = new Transaction();
  if (replaces) repair.add({ op: 'delete-table' });
  if (!present) repair.add({ op: 'add-table', comment: TABLE_COMMENT });
  for (const set of difference.missingSets) repair.add({ op: 'add-set', set });
  for (const counter of difference.missingCounters) repair.add({ op: 'add-counter', counter });
  for (const chain of difference.missingChains) repair.add({ op: 'add-chain', chain });
  for (const { chain, actual } of difference.chains) {
    if (actual.length > 0) repair.add({ op: 'flush-chain', chain: chain.chain.name });
    repair.addRules(chain);
  }
  const [unknownSets, unknownChains] = [new Transaction(), new Transaction()];
  for (const name of difference.unknownSets) unknownSets.add({ op: 'delete-set', set: { name, key: [] } });
  for (const { name, rules } of difference.unknownChains) {
    if (rules.length > 0) repair.add({ op: 'flush-chain', chain: name });
    unknownChains.add({ op: 'delete-chain', chain: name });
  }
  for (const counter of difference.unknownCounters) unknownChains.add({ op: 'delete-counter', counter });
  for (const set of desired.sets) repairElements(set, present, repair);
  return { repair, removals: present ? [unknownSets, unknownChains] : [], replaces };
}

function repairElements(desired: DesiredSet, state: TableState | undefined, repair: Transaction): void {
  const { set } = desired;
  const removed: SetElement[] = [];
  const added: SetElement[] = [];
  const addedFor: (ServicePortKey | undefined)[] = [];
  for (const { actual, wanted, owner } of elementDifferences(desired, state)) {
    if (actual) removed.push(actual);
    if (!wanted) continue;
    added.push(wanted);
    addedFor.push(owner);
  }
  if (removed.length > 0) repair.add({ op: 'delete-elements', set, elements: removed });
  if (added.length > 0) repair.add({ op: 'add-elements', set, elements: added }, addedFor);
}
