import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { Chain } from '../../domain/iptables/table.js';
import type { RestoreLines } from './restore-lines.js';

interface ChainToWrite {
  readonly chain: Chain;
  readonly owner?: ServicePortKey | undefined;
}

/** One that goes. */
export interface ChainToRemove extends Pick<Chain, 'table' | 'name'> {
  readonly owner?: ServicePortKey;
  /** Others lead to it: it is emptied only. */
  readonly isKept?: boolean;
}

/** So many chains are gathered before any is written: few at first, so that the tool has something to read soon. */
const GATHERED_FIRST = 500;
const GATHERED_MOST = 8_000;

/**
 * Empties the chains, or makes them, and fills them, in groups of which all are declared before any rule, since rules lead
 * from one chain to another of the same owner. Chains of one owner, which must stand together, are in one group. Each
 * group is a commit where commits must be small; elsewhere each is twice as large as the one before, up to a limit.
 */
export function* writeChains(
  lines: RestoreLines,
  chains: Iterable<ChainToWrite>,
  chainsPerCommit: number,
): Generator<void> {
  let size = Math.min(chainsPerCommit, GATHERED_FIRST);
  let group: ChainToWrite[] = [];
  for (const each of chains) {
    // The tool reads the kernel's table as soon as it knows which, while the chains are made.
    if (lines.begin(each.chain.table)) yield;
    if (group.length >= size && each.owner !== group.at(-1)!.owner) {
      yield* writeGroup(lines, group);
      if (size === chainsPerCommit) lines.commit();
      group = [];
      size = Math.min(chainsPerCommit, size * 2, GATHERED_MOST);
    }
    group.push(each);
    yield;
  }
  yield* writeGroup(lines, group);
}

/**
 * The last by name goes first. iptables-legacy keeps chains in order of their names, and looks from the start for the place
 * of a new one; and it looks up the chain of each rule, which is in the processor's cache when the rule before was near.
 */
function* writeGroup(lines: RestoreLines, group: readonly ChainToWrite[]): Generator<void> {
  // Names are sorted by themselves: a comparison in JavaScript would take as long as all else here.
  const byName = new Map<string, ChainToWrite>();
  for (const each of group) byName.set(each.chain.name, each);
  const sorted = [...byName.keys()].sort().reverse();
  const ordered = sorted.map((name) => byName.get(name)!);
  for (const { chain, owner } of ordered) lines.declare(chain.table, chain.name, owner);
  for (const { chain, owner } of ordered) {
    lines.fill(chain, owner);
    yield;
  }
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
