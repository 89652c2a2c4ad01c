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

/** iptables looks for each rule to delete from the start of the chain; with more than these, rewriting it is less work. */
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
    yield* writer.endRejecting(lines);
  });
}

class ChangeWriter {
  private readonly chains: ChainsChange<OwnedChain>;
  private readonly removed: readonly OwnedEntry[];
  private readonly added: readonly OwnedEntry[];
  /** Entries that are added and removed last, once the frontends have rules. */
  private readonly late: ReadonlySet<OwnedEntry>;
  /** Chains that are rewritten, instead of changing single entries. */
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
    const mayWait = (one: OwnedEntry) => one.entry.table === REJECTING && !this.isRewritten(one);
    // The tool deletes the first rule of a text: one that comes again goes before it comes.
    const coming = new Set(this.added.map(({ entry }) => `${entry.chain} ${entry.rule}`));
    const [accepted, rejected] = [this.removed, this.added].map(rejectedFrontends) as [Frontends, Frontends];
    // Drop rules of a frontend are neither before its rules while it is still rejected, nor after them once it is.
    const goesLate = ({ entry }: OwnedEntry) =>
      !coming.has(`${entry.chain} ${entry.rule}`) && !rejected.has(entry.frontend);
    const comesLate = ({ entry: { frontend } }: OwnedEntry) =>
      accepted.has(frontend) && !rejected.has(frontend);
    this.late = new Set([
      ...this.removed.filter((one) => mayWait(one) && goesLate(one)),
      ...this.added.filter((one) => mayWait(one) && comesLate(one)),
    ]);
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
    this.changeEntries((one) => one.entry.table === table && !this.late.has(one), lines);
    for (const { chain, removed, added } of baseChange.tails) {
      if (chain.table !== table || this.rewritten.includes(chain)) continue;
      for (const rule of removed) lines.delete(table, chain.name, rule);
      for (const rule of added) lines.append(table, chain.name, rule);
    }
    yield* this.rewrite(table, (chain) => chain.table === table && !this.isLate(chain), lines);
    yield;
    if (table === OWNED_TABLE) {
      const removed = chains.removed.map(({ chain: { name }, owner }) => ({ table, name, owner }));
      yield* removeChains(lines, removed, chainsPerCommit);
    }
    lines.commit();
  }

  /** To be called once the frontends have rules. */
  *endRejecting(lines: RestoreLines): Generator<void> {
    this.changeEntries((one) => this.late.has(one), lines);
    yield* this.rewrite(REJECTING, (chain) => this.isLate(chain), lines);
    lines.commit();
  }

  private changeEntries(isNow: (one: OwnedEntry) => boolean, lines: RestoreLines): void {
    const isSingle = (one: OwnedEntry) => isNow(one) && !this.isRewritten(one);
    for (const { entry, owner } of this.removed.filter(isSingle))
      lines.delete(entry.table, entry.chain, entry.rule, owner);
    for (const { entry, owner } of this.added.filter(isSingle).reverse())
      lines.insert(entry.table, entry.chain, entry.rule, owner);
  }

  private *rewrite(
    table: TableName,
    isNow: (chain: SharedChain) => boolean,
    lines: RestoreLines,
  ): Generator<void> {
    const names = new Set(this.rewritten.filter(isNow).map(({ name }) => name));
    for (const chain of names.size > 0 ? this.tables.shared(table) : []) {
      if (!names.has(chain.name)) continue;
      lines.declare(table, chain.name);
      yield* fillShared(lines, chain);
    }
  }

  private isRewritten(one: OwnedEntry): boolean {
    return this.rewritten.some((chain) => isIn(chain)(one));
  }

  /** A chain that is rewritten for what is added to it loses immediately what goes. */
  private isLate(chain: SharedChain): boolean {
    return chain.table === REJECTING && !this.added.some(isIn(chain));
  }
}

type Frontends = ReadonlySet<string | undefined>;

function rejectedFrontends(entries: readonly OwnedEntry[]): Frontends {
  const rejecting = entries.filter(({ entry }) => entry.rule.includes('-j REJECT'));
  return new Set(rejecting.map(({ entry }) => entry.frontend));
}

function isIn({ table, name }: Pick<SharedChain, 'table' | 'name'>): (one: OwnedEntry) => boolean {
  return ({ entry }) => entry.table === table && entry.chain === name;
}
