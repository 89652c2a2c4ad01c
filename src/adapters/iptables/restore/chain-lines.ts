import type { DesiredSharedChain } from '../../../domain/iptables/state/desired-tables.js';
import type { Chain, RuleText } from '../../../domain/iptables/table.js';
import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import type { RestoreLines } from './restore-lines.js';

interface ChainToWrite {
  readonly chain: Chain;
  readonly owner?: ServicePortKey | undefined;
}

export interface ChainToRemove extends Pick<Chain, 'table' | 'name'> {
  readonly owner?: ServicePortKey;
  /** Rules of others lead to it: it is emptied only. */
  readonly isKept?: boolean;
}

/** At most this many chains are gathered before any is written: the more, the better their order. */
const MOST_GATHERED = 2_000;

/**
 * Empties the chains, or makes them, and fills them, in groups of which all are declared before any rule, since rules lead
 * from one chain to another of the same owner. Chains of one owner, which must stand together, are in one group. Each
 * group is a commit where commits must be small.
 */
export function* writeChains(
  lines: RestoreLines,
  chains: Iterable<ChainToWrite>,
  chainsPerCommit: number,
): Generator<void> {
  const size = Math.min(chainsPerCommit, MOST_GATHERED);
  let group: ChainToWrite[] = [];
  for (const each of chains) {
    // The tool reads the kernel's table as soon as it knows which, while the chains are made.
    if (lines.begin(each.chain.table)) yield;
    if (group.length >= size && each.owner !== group.at(-1)!.owner) {
      yield* writeGroup(lines, group);
      if (size === chainsPerCommit) lines.commit();
      group = [];
    }
    group.push(each);
    yield;
  }
  yield* writeGroup(lines, group);
}

/**
 * Of several chains of one name the last is written. The last by name goes first: iptables-legacy keeps chains in order of
 * their names, and looks from the start for the place of a new one; and it looks up the chain of each rule, which is in the
 * processor's cache when the rule before was near.
 */
function* writeGroup(lines: RestoreLines, group: readonly ChainToWrite[]): Generator<void> {
  const byName = new Map(group.map((each) => [each.chain.name, each]));
  // A comparison function of our own would take as long as everything else about the chains.
  const names = [...byName.keys()].sort().reverse();
  const ordered = names.map((name) => byName.get(name)!);
  for (const { chain, owner } of ordered) lines.declare(chain.table, chain.name, owner);
  for (const { chain, owner } of ordered) {
    lines.fill(chain, owner);
    yield;
  }
}

/**
 * Fills a shared chain, which is empty.
 * @param known rules that the kernel has already: none of their service ports is a suspect
 */
export function* fillShared(
  lines: RestoreLines,
  { table, name, before, entries, after }: DesiredSharedChain,
  known: ReadonlySet<RuleText> = new Set(),
): Generator<void> {
  for (const rule of before) lines.append(table, name, rule);
  for (const { entry, owner } of entries) {
    lines.append(table, name, entry.rule, owner, known.has(entry.rule));
    yield;
  }
  for (const rule of after) lines.append(table, name, rule);
}

/** Removes chains. All are emptied before any goes, since they lead to each other. */
export function* removeChains(
  lines: RestoreLines,
  chains: readonly ChainToRemove[],
  chainsPerCommit: number,
): Generator<void> {
  for (const [index, { table, name, owner }] of chains.entries()) {
    if (index > 0 && index % chainsPerCommit === 0) lines.commit();
    lines.declare(table, name, owner);
    yield;
  }
  for (const [index, { table, name, owner, isKept }] of chains.entries()) {
    if (index > 0 && index % chainsPerCommit === 0) lines.commit();
    if (!isKept) lines.remove(table, name, owner);
    yield;
  }
}
