import type { DesiredTables } from '../../domain/iptables/desired-state.js';
import type {
  BaseRulesChange,
  IptablesChange,
  OwnedChain,
  OwnedEntry,
} from '../../domain/iptables/iptables-change.js';
import {
  OWNED_TABLE,
  type ChainsChange,
  type SharedChain,
  type TableName,
} from '../../domain/iptables/table.js';
import { fillShared, removeChains, writeChains, type RestoreLines, RestoreScript } from './restore-script.js';

/** Where frontends without endpoints are rejected. */
const REJECTING: TableName = 'filter';

/** iptables looks for each rule to delete from the start of the chain; with more than these, writing it anew is less work. */
const MOST_DELETIONS = 100;

/**
 * The restore that a change needs, all of it in one commit for each table, unless there are too many chains for that.
 * Rules come before what leads to them, and go after it. Each table changes for itself: a frontend that has lost its endpoints is
 * rejected before its rules go, and one that gets its first has its rules before it is rejected no longer.
 * @param tables as they should be after the change
 */
export function changeScript(
  change: IptablesChange,
  baseChange: BaseRulesChange,
  tables: DesiredTables,
  chainsPerCommit: number,
): RestoreScript {
  const writer = new ChangeWriter(change, baseChange, tables, chainsPerCommit);
  return new RestoreScript(function* (lines) {
    for (const table of ['mangle', REJECTING, OWNED_TABLE] as const) yield* writer.write(table, lines);
    writer.endRejecting(lines);
  });
}

class ChangeWriter {
  private readonly chains: ChainsChange<OwnedChain>;
  private readonly removed: readonly OwnedEntry[];
  private readonly added: readonly OwnedEntry[];
  /** What goes last: it rejects or drops, and nothing else comes in its place or must go before that. */
  private readonly ended: ReadonlySet<OwnedEntry>;
  /** Chains that are written anew, instead of changing single entries. */
  private readonly rewritten: readonly SharedChain[];

  constructor(
    change: IptablesChange,
    private readonly baseChange: BaseRulesChange,
    private readonly tables: DesiredTables,
    private readonly chainsPerCommit: number,
  ) {
    this.chains = change.chains();
    this.removed = change.entriesRemoved;
    this.added = change.entriesAdded;
    this.rewritten = tables.baseRules.shared.filter(
      (chain) => this.removed.filter(isIn(chain)).length > MOST_DELETIONS,
    );
    // The tool deletes the first rule of a text: the one that comes again goes before it comes.
    const coming = new Set(this.added.map(({ entry }) => `${entry.chain} ${entry.rule}`));
    this.ended = new Set(
      this.removed.filter(
        ({ entry }) =>
          entry.table === REJECTING &&
          !coming.has(`${entry.chain} ${entry.rule}`) &&
          !this.rewritten.some(({ name }) => name === entry.chain),
      ),
    );
  }

  *write(table: TableName, lines: RestoreLines): Generator<void> {
    const { baseChange, chains, chainsPerCommit } = this;
    const ofNode = baseChange.chains.filter((chain) => chain.table === table);
    yield* writeChains(
      lines,
      ofNode.map((chain) => ({ chain })),
      Infinity,
    );
    if (table === OWNED_TABLE) yield* writeChains(lines, chains.written, chainsPerCommit);
    yield* this.changeShared(table, lines);
    yield;
    if (table === OWNED_TABLE) {
      const removed = chains.removed.map(({ chain: { name }, owner }) => ({ table, name, owner }));
      yield* removeChains(lines, removed, chainsPerCommit);
    }
    lines.commit();
  }

  /** To be called once the frontends have rules. */
  endRejecting(lines: RestoreLines): void {
    for (const { entry, owner } of this.ended) lines.delete(entry.table, entry.chain, entry.rule, owner);
    lines.commit();
  }

  private *changeShared(table: TableName, lines: RestoreLines): Generator<void> {
    const rewritten = new Set(this.rewritten.flatMap((chain) => (chain.table === table ? chain.name : [])));
    const isSingle = ({ entry }: OwnedEntry) => entry.table === table && !rewritten.has(entry.chain);
    for (const one of this.removed.filter(isSingle))
      if (!this.ended.has(one)) lines.delete(table, one.entry.chain, one.entry.rule, one.owner);
    for (const { entry, owner } of this.added.filter(isSingle).reverse())
      lines.insert(table, entry.chain, entry.rule, owner);
    for (const { chain, removed, added } of this.baseChange.tails) {
      if (chain.table !== table || rewritten.has(chain.name)) continue;
      for (const rule of removed) lines.delete(table, chain.name, rule);
      for (const rule of added) lines.append(table, chain.name, rule);
    }
    for (const chain of rewritten.size > 0 ? this.tables.shared(table) : []) {
      if (!rewritten.has(chain.name)) continue;
      lines.declare(table, chain.name);
      yield* fillShared(lines, chain);
    }
  }
}

function isIn({ table, name }: Pick<SharedChain, 'table' | 'name'>): (one: OwnedEntry) => boolean {
  return ({ entry }) => entry.table === table && entry.chain === name;
}
