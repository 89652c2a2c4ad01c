import type { BaseRulesChange } from '../../../domain/iptables/state/base-rules-change.js';
import type { DesiredTables } from '../../../domain/iptables/state/desired-tables.js';
import type { IptablesChange } from '../../../domain/iptables/state/iptables-change.js';
import type { OwnedChain, OwnedEntry } from '../../../domain/iptables/state/owned-rules.js';
import { OWNED_TABLE, type SharedChain, type TableName } from '../../../domain/iptables/table.js';
import { fillShared, removeChains, writeChains } from './chain-lines.js';
import type { RestoreLines } from './restore-lines.js';
import { RestoreScript } from './restore-script.js';

/** In this order a service that has lost its endpoints is rejected before its rules go. */
const TABLES: readonly TableName[] = ['mangle', 'filter', OWNED_TABLE];
/** iptables looks for each rule to delete from the start of the chain; with more than these, writing it anew is less work. */
const MOST_DELETIONS = 100;

/**
 * The restore that a change needs, all of it in one commit for each table, unless there are too many chains for that.
 * Rules come before what leads to them, and go after it.
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
    for (const table of TABLES) yield* writer.write(table, lines);
  });
}

class ChangeWriter {
  private readonly written: readonly OwnedChain[];
  private readonly removed: readonly OwnedChain[];
  private readonly entriesRemoved: readonly OwnedEntry[];
  private readonly entriesAdded: readonly OwnedEntry[];

  constructor(
    change: IptablesChange,
    private readonly baseChange: BaseRulesChange,
    private readonly tables: DesiredTables,
    private readonly chainsPerCommit: number,
  ) {
    ({ written: this.written, removed: this.removed } = change.chains());
    this.entriesRemoved = change.entriesRemoved;
    this.entriesAdded = change.entriesAdded;
  }

  *write(table: TableName, lines: RestoreLines): Generator<void> {
    const ofNode = this.baseChange.chains.filter((chain) => chain.table === table);
    yield* writeChains(
      lines,
      ofNode.map((chain) => ({ chain })),
      Infinity,
    );
    if (table === OWNED_TABLE) yield* writeChains(lines, this.written, this.chainsPerCommit);
    const { shared } = this.tables.baseRules;
    const rewritten = shared.filter((chain) => chain.table === table && this.isRewritten(chain));
    const names = new Set(rewritten.map(({ name }) => name));
    this.changeEntries(table, lines, names);
    if (names.size > 0) yield* this.rewrite(table, lines, names);
    yield;
    if (table === OWNED_TABLE) {
      const chains = this.removed.map(({ chain: { name }, owner }) => ({ table, name, owner }));
      yield* removeChains(lines, chains, this.chainsPerCommit);
    }
    lines.commit();
  }

  private isRewritten({ table, name, before }: SharedChain): boolean {
    const here = ({ entry }: OwnedEntry) => entry.table === table && entry.chain === name;
    if (before.length > 0) return this.entriesRemoved.some(here) || this.entriesAdded.some(here);
    return this.entriesRemoved.filter(here).length > MOST_DELETIONS;
  }

  private changeEntries(table: TableName, lines: RestoreLines, except: ReadonlySet<string>): void {
    const single = ({ entry }: OwnedEntry) => entry.table === table && !except.has(entry.chain);
    const tails = this.baseChange.tails.filter(
      ({ chain }) => chain.table === table && !except.has(chain.name),
    );
    for (const { entry, owner } of this.entriesRemoved.filter(single))
      lines.delete(table, entry.chain, entry.rule, owner);
    for (const { entry, owner } of this.entriesAdded.filter(single).reverse())
      lines.insert(table, entry.chain, entry.rule, owner);
    for (const { chain, removed, added } of tails) {
      for (const rule of removed) lines.delete(table, chain.name, rule);
      for (const rule of added) lines.append(table, chain.name, rule);
    }
  }

  private *rewrite(table: TableName, lines: RestoreLines, names: ReadonlySet<string>): Generator<void> {
    for (const chain of this.tables.shared(table)) {
      if (!names.has(chain.name)) continue;
      lines.declare(table, chain.name);
      yield* fillShared(lines, chain);
    }
  }
}
