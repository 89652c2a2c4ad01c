import isEqual from 'fast-deep-equal';
import type { BaseRules, Chain, RuleText, SharedChain, TableName } from '../table.js';
import type { IptablesDesiredState } from './desired-state.js';
import { claimId, type OwnedChain, type OwnedEntry } from './owned-rules.js';
import { getOrMake } from '../../model/get-or-make.js';

/** A chain that service ports share, and where its rules come from. */
export interface DesiredSharedChain extends Chain {
  readonly before: readonly RuleText[];
  readonly entries: readonly OwnedEntry[];
  /** Rules that lead away what no entry took; their order among themselves means nothing. */
  readonly after: readonly RuleText[];
}

/**
 * All chains of the iptables mode as they should be: what a fresh start writes, and verification compares with. They are made
 * when asked for, from the desired state and the base rules as they are at that moment.
 */
export class DesiredTables {
  constructor(
    private readonly desired: IptablesDesiredState,
    readonly baseRules: BaseRules,
  ) {}

  /** The chains that service ports have for themselves, those of one after those of another. */
  owned(): Iterable<OwnedChain> {
    return this.desired.chains();
  }

  /** Chains of a table that service ports share. Costs what they hold. */
  shared(table: TableName): readonly DesiredSharedChain[] {
    const chains = this.baseRules.shared.filter((chain) => chain.table === table);
    if (chains.length === 0) return [];
    const entries = new Map<string, OwnedEntry[]>(chains.map(({ name }) => [name, []]));
    for (const owned of this.desired.entries(table)) entries.get(owned.entry.chain)?.push(owned);
    return chains.map((chain) => desiredSharedChain(chain, entries.get(chain.name)!));
  }
}

function desiredSharedChain(
  { table, name, before, after }: SharedChain,
  entries: readonly OwnedEntry[],
): DesiredSharedChain {
  const rules = [...before, ...entries.map(({ entry }) => entry.rule), ...after];
  return { table, name, rules, before, entries, after };
}

/** Whether a chain holds what it should. */
export function holds({ rules }: Chain, actual: readonly RuleText[]): boolean {
  return isEqual(rules, actual);
}

/** Whether a shared chain holds what it should: the order of its entries counts only among those about the same packets. */
export function sharedHolds(chain: DesiredSharedChain, actual: readonly RuleText[]): boolean {
  const { rules, before, entries, after } = chain;
  if (holds(chain, actual)) return true;
  if (actual.length !== rules.length) return false;
  const start = before.length;
  const end = actual.length - after.length;
  return (
    before.every((rule, index) => rule === actual[index]) &&
    sameRules(after, actual.slice(end)) &&
    sameRules(rules.slice(start, end), actual.slice(start, end)) &&
    inOrder(orderedRuns(entries), actual)
  );
}

/** Runs of entries about the same packets: each must stand in this order, anywhere among the entries. */
function orderedRuns(entries: readonly OwnedEntry[]): readonly (readonly RuleText[])[] {
  const runs = new Map<string, RuleText[]>();
  for (const { entry } of entries) getOrMake(runs, claimId(entry), () => []).push(entry.rule);
  return [...runs.values()].filter((run) => run.length > 1);
}

/** The same rules, each as often. */
function sameRules(one: readonly RuleText[], other: readonly RuleText[]): boolean {
  const counts = new Map<RuleText, number>();
  for (const rule of one) counts.set(rule, (counts.get(rule) ?? 0) + 1);
  return (
    one.length === other.length &&
    other.every((rule) => {
      const left = counts.get(rule) ?? 0;
      counts.set(rule, left - 1);
      return left > 0;
    })
  );
}

/** Whether each run's rules stand in its order. All of them are there, each as often as it should be. */
function inOrder(runs: readonly (readonly RuleText[])[], actual: readonly RuleText[]): boolean {
  const runOf = new Map(runs.flatMap((run) => run.map((rule) => [rule, run])));
  const reached = new Map<readonly RuleText[], number>();
  return actual.every((rule) => {
    const run = runOf.get(rule);
    if (!run) return true;
    const next = reached.get(run) ?? 0;
    reached.set(run, next + 1);
    return run[next] === rule;
  });
}
