import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { JoinedChains } from '../../domain/iptables/joined-chains.js';
import type { ChainsOf } from '../../domain/iptables/delta.js';
import { chainsInWritingOrder } from '../../domain/iptables/restore-line.js';
import { OWNED_TABLE, type Chain } from '../../domain/iptables/table.js';
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

/** The size of the group after one of that size; after none, when it is 0. */
export function nextGroupSize(size: number, chainsPerCommit: number): number {
  return Math.min(chainsPerCommit, Math.max(GATHERED_FIRST, size * 2), GATHERED_MOST);
}

/**
 * Empties the chains, or makes them, and fills them, in groups of which all are declared before any rule, since rules lead
 * from one chain to another of the same owner. Chains of one owner, which must stand together, are in one group. Each
 * group is a commit where commits must be small; elsewhere each is twice as large as the one before, up to a limit. Chains
 * that are joined are such a group already.
 */
export function* writeChains(
  lines: RestoreLines,
  chains: Iterable<ChainToWrite | JoinedChains>,
  chainsPerCommit: number,
): Generator<void> {
  let size = nextGroupSize(0, chainsPerCommit);
  let group: ChainToWrite[] = [];
  for (const each of chains) {
    const isAlone = 'chain' in each;
    // The tool reads the kernel's table as soon as it knows which, while the chains are made.
    if (lines.begin(isAlone ? each.chain.table : OWNED_TABLE)) yield;
    if (!isAlone) {
      yield* writeJoined(lines, each);
      if (chainsPerCommit !== Infinity) lines.commit();
      continue;
    }
    if (group.length >= size && each.owner !== group.at(-1)!.owner) {
      yield* writeGroup(lines, group);
      if (size === chainsPerCommit) lines.commit();
      group = [];
      size = nextGroupSize(size, chainsPerCommit);
    }
    group.push(each);
    yield;
  }
  yield* writeGroup(lines, group);
}

function* writeGroup(lines: RestoreLines, group: readonly ChainToWrite[]): Generator<void> {
  yield* writeOrdered(lines, chainsInWritingOrder(group));
}

/** Their text is gone once it was written; whoever wants the lines again, to know whose they are, gets them one by one. */
function* writeJoined(lines: RestoreLines, joined: JoinedChains): Generator<void> {
  const text = joined.takeText();
  if (text === undefined) yield* writeOrdered(lines, joined.chains);
  else if (text !== '') lines.joined(text, joined);
  yield;
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
