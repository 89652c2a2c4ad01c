import type { IptablesDesiredState, OwnedEntry } from '../../../domain/iptables/state/desired-state.js';
import type { IptablesChange } from '../../../domain/iptables/state/iptables-change.js';
import type { BaseRulesChange } from '../../../domain/iptables/state/base-rules-change.js';
import {
  OWNED_TABLE,
  type BaseRules,
  type SharedChain,
  type TableName,
} from '../../../domain/iptables/table.js';
import { removeChains, writeChains, writeChanged, type ChainToRemove } from './chain-lines.js';
import type { RestoreLines } from './restore-lines.js';
import { RestoreScript } from './restore-script.js';

/** In this order a service that has lost its endpoints is rejected before its rules go. */
const TABLES: readonly TableName[] = ['mangle', 'filter', OWNED_TABLE];
/** iptables looks for each rule to delete from the start of the chain; from so many on, writing it anew is less work. */
const MOST_DELETIONS = 100;
/**
 * With each commit the kernel's nf_tables checks all rules once more. At a first sync there are none yet that lead to services;
 * among 10,000 services it takes most of the time, so commits of a change are larger: measured, an eighth less for 1,000.
 */
const LARGER_COMMITS = 2;
const NO_CHANGE: BaseRulesChange = { chains: [], tails: [] };

/**
 * The restore that a change needs, all of it in one commit for each table, unless there are too many chains for that.
 * Rules come before what leads to them, and go after it.
 */
export function changeScript(
  delta: IptablesChange,
  composition: IptablesDesiredState,
  frame: BaseRules,
  chainsPerCommit: number,
  baseRulesChange = NO_CHANGE,
): RestoreScript {
  const change = new Change(delta, composition, frame, baseRulesChange);
  return new RestoreScript(function* (lines) {
    for (const table of TABLES) yield* change.write(table, lines, chainsPerCommit * LARGER_COMMITS);
  });
}

class Change {
  private readonly entriesRemoved: readonly OwnedEntry[];
  private readonly entriesAdded: readonly OwnedEntry[];

  constructor(
    private readonly delta: IptablesChange,
    private readonly composition: IptablesDesiredState,
    private readonly frame: BaseRules,
    private readonly baseRulesChange: BaseRulesChange,
  ) {
    this.entriesRemoved = delta.entriesRemoved;
    this.entriesAdded = delta.entriesAdded;
  }

  *write(table: TableName, lines: RestoreLines, chainsPerCommit: number): Generator<void> {
    const nodeChains = this.baseRulesChange.chains.filter((chain) => chain.table === table);
    yield* writeChains(
      lines,
      nodeChains.map((chain) => ({ chain })),
      Infinity,
    );
    if (table === OWNED_TABLE) yield* writeChanged(lines, this.delta.written(), chainsPerCommit);
    const rewritten = this.frame.shared.filter((chain) => chain.table === table && this.isRewritten(chain));
    this.changeEntries(table, lines, new Set(rewritten.map(({ name }) => name)));
    for (const chain of rewritten) this.rewrite(chain, lines);
    yield;
    if (table === OWNED_TABLE) yield* removeChains(lines, this.removed(), chainsPerCommit);
    lines.commit();
  }

  private removed(): readonly ChainToRemove[] {
    return this.delta.removed.map(({ chain: { table, name }, owner }) => ({ table, name, owner }));
  }

  private isRewritten({ table, name, before }: SharedChain): boolean {
    const here = ({ entry }: OwnedEntry) => entry.table === table && entry.chain === name;
    if (before.length > 0) return this.entriesRemoved.some(here) || this.entriesAdded.some(here);
    return this.entriesRemoved.filter(here).length > MOST_DELETIONS;
  }

  private changeEntries(table: TableName, lines: RestoreLines, except: ReadonlySet<string>): void {
    const single = ({ entry }: OwnedEntry) => entry.table === table && !except.has(entry.chain);
    const tails = this.baseRulesChange.tails.filter(
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

  private rewrite({ table, name, before, after }: SharedChain, lines: RestoreLines): void {
    lines.declare(table, name);
    for (const rule of before) lines.append(table, name, rule);
    for (const { entry, owner } of this.composition.entries(table))
      if (entry.chain === name) lines.append(table, name, entry.rule, owner);
    for (const rule of after) lines.append(table, name, rule);
  }
}
