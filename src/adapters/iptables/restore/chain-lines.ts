import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import type { ChainsOf } from '../../../domain/iptables/state/iptables-change.js';
import { OWNED_TABLE, type Chain } from '../../../domain/iptables/table.js';
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

/** So many chains at most are gathered before any is written: the more, the better they are ordered. */
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
      yield* writeOrdered(lines, inWritingOrder(group));
      if (size === chainsPerCommit) lines.commit();
      group = [];
    }
    group.push(each);
    yield;
  }
  yield* writeOrdered(lines, inWritingOrder(group));
}

/**
 * The chains in the order in which they are written best; of several of one name the last. The last by name goes first:
 * iptables-legacy keeps chains in order of their names, and looks from the start for the place of a new one; and it looks up
 * the chain of each rule, which is in the processor's cache when the rule before was near.
 */
function inWritingOrder(chains: readonly ChainToWrite[]): readonly ChainToWrite[] {
  const byName = new Map(chains.map((each) => [each.chain.name, each]));
  // Names are sorted by themselves: a comparison in JavaScript would take as long as all else about them.
  return [...byName.keys()]
    .sort()
    .reverse()
    .map((name) => byName.get(name)!);
}

function* writeOrdered(lines: RestoreLines, ordered: readonly ChainToWrite[]): Generator<void> {
  for (const { chain, owner } of ordered) lines.declare(chain.table, chain.name, owner);
  for (const { chain, owner } of ordered) {
    lines.fill(chain, owner);
    yield;
  }
}

/**
 * Empties chains that changed, or makes them, and fills them. Where commits must be small, one service port goes after
 * another: iptables-nft reads at once and does not mind the order, so nothing is gathered. iptables-legacy is still busy with
 * the kernel's table while groups of them are.
 */
export function* writeChanged(
  lines: RestoreLines,
  changes: Iterable<ChainsOf>,
  chainsPerCommit: number,
): Generator<void> {
  if (chainsPerCommit === Infinity) return yield* writeChains(lines, eachChain(changes), chainsPerCommit);
  let inCommit = 0;
  for (const { owner, chains } of changes) {
    if (inCommit > 0 && inCommit + chains.length > chainsPerCommit) {
      lines.commit();
      inCommit = 0;
    }
    inCommit += chains.length;
    if (lines.begin(OWNED_TABLE)) yield;
    yield* writeOrdered(
      lines,
      chains.map((chain) => ({ chain, owner })),
    );
  }
}

function* eachChain(changes: Iterable<ChainsOf>): Generator<ChainToWrite> {
  for (const { owner, chains } of changes) for (const chain of chains) yield { chain, owner };
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
