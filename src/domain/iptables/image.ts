import { claimId, type IptablesComposition, type OwnedChain, type OwnedEntry } from './composition.js';
import type { Chain, IptablesFrame, RuleText, SharedChain, TableName } from './table.js';

/** All chains of the iptables mode as they should be: what a fresh start writes, and verification compares with. */
export interface IptablesImage {
  /** Chains that service ports share, and those of the node. */
  readonly chains: readonly ChainImage[];
  /** Chains of the service ports, in any order. They are made while they are gone through, each time anew. */
  readonly owned: Iterable<OwnedChain>;
  readonly jumps: IptablesFrame['jumps'];
  /** Chains that must exist, but whose rules belong to somebody else. */
  readonly lent: IptablesFrame['lent'];
}

/** A chain as it should be. */
export interface ChainImage extends Chain {
  /** For a shared chain: where its rules come from, and what of their order counts. */
  readonly shared?: SharedRules;
}

export interface SharedRules {
  readonly before: readonly RuleText[];
  readonly entries: readonly OwnedEntry[];
  /** Rules that lead away what no entry took; their order among themselves means nothing. */
  readonly after: readonly RuleText[];
  /** Runs of entries about the same packets: each must stand in this order, anywhere among the entries. */
  readonly ordered: readonly (readonly RuleText[])[];
}

/** Draws the image of a composition within a frame. Costs what shared chains hold; its owned chains follow the composition. */
export function iptablesImage(composition: IptablesComposition, frame: IptablesFrame): IptablesImage {
  const entries = new Map<string, OwnedEntry[]>();
  for (const owned of composition.entries()) {
    const id = placeOf(owned.entry.table, owned.entry.chain);
    const present = entries.get(id);
    if (present) present.push(owned);
    else entries.set(id, [owned]);
  }
  const shared = frame.shared.map((chain) =>
    sharedImage(chain, entries.get(placeOf(chain.table, chain.name))),
  );
  return {
    chains: [...shared, ...frame.chains],
    owned: { [Symbol.iterator]: () => composition.chains() },
    jumps: frame.jumps,
    lent: frame.lent,
  };
}

/** Whether a chain holds what it should, where the order of a shared chain's entries counts only within a frontend. */
export function holds(chain: ChainImage, actual: readonly RuleText[]): boolean {
  const { shared, rules } = chain;
  if (actual.length !== rules.length) return false;
  if (rules.every((rule, index) => rule === actual[index])) return true;
  if (!shared) return false;
  const start = shared.before.length;
  const end = actual.length - shared.after.length;
  return (
    shared.before.every((rule, index) => rule === actual[index]) &&
    sameRules(shared.after, actual.slice(end)) &&
    sameRules(rules.slice(start, end), actual.slice(start, end)) &&
    inOrder(shared.ordered, actual)
  );
}

function sharedImage({ table, name, before, after }: SharedChain, entries: OwnedEntry[] = []): ChainImage {
  const rules = entries.map(({ entry }) => entry.rule);
  return {
    table,
    name,
    rules: [...before, ...rules, ...after],
    shared: { before, entries, after, ordered: orderedRuns(entries) },
  };
}

function orderedRuns(entries: readonly OwnedEntry[]): readonly (readonly RuleText[])[] {
  const runs = new Map<string, RuleText[]>();
  for (const { entry } of entries) {
    const id = claimId(entry);
    const run = runs.get(id);
    if (run) run.push(entry.rule);
    else runs.set(id, [entry.rule]);
  }
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
function inOrder(runs: SharedRules['ordered'], actual: readonly RuleText[]): boolean {
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

function placeOf(table: TableName, chain: string): string {
  return `${table} ${chain}`;
}
