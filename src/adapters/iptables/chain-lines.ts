import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { Chain } from '../../domain/iptables/table.js';
import type { RestoreLines } from './restore-lines.js';

interface ChainToWrite {
  readonly chain: Chain;
  readonly owner?: ServicePortKey | undefined;
}

interface ChainToRemove extends Pick<Chain, 'table' | 'name'> {
  readonly owner?: ServicePortKey;
  /** Others lead to it: it is emptied only. */
  readonly isKept?: boolean;
}

/** So many chains are gathered before any is written, where a commit may hold more. */
const GATHERED = 5_000;

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
  const size = Math.min(chainsPerCommit, GATHERED);
  let isFirst = true;
  for (const group of groups(chains, size)) {
    if (!isFirst && size === chainsPerCommit) lines.commit();
    isFirst = false;
    declare(lines, group);
    for (const { chain, owner } of group) {
      for (const rule of chain.rules) lines.append(chain.table, chain.name, rule, owner);
      yield;
    }
  }
}

/**
 * The last by name goes first: the tools keep chains in order of their names, and look from the start for the place of a
 * new one. That is a third of the time that iptables-legacy needs for ten thousand services.
 */
function declare(lines: RestoreLines, group: readonly ChainToWrite[]): void {
  const sorted = [...group].sort((one, other) => (one.chain.name < other.chain.name ? 1 : -1));
  for (const { chain, owner } of sorted) lines.declare(chain.table, chain.name, owner);
}

function* groups(chains: Iterable<ChainToWrite>, size: number): Generator<readonly ChainToWrite[]> {
  let group: ChainToWrite[] = [];
  for (const each of chains) {
    if (group.length >= size && each.owner !== group.at(-1)!.owner) {
      yield group;
      group = [];
    }
    group.push(each);
  }
  if (group.length > 0) yield group;
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
