import type { DesiredTables } from '../../domain/iptables/desired-state.js';
import {
  type BaseRulesChange,
  rejects,
  type IptablesChange,
  type OwnedChain,
  type OwnedEntry,
} from '../../domain/iptables/iptables-change.js';
import { OWNED_TABLE, type SharedChain, type TableName } from '../../domain/iptables/table.js';
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
    yield* writer.endRejecting(lines);
  });
}

type Frontends = ReadonlySet<string | undefined>;

/** What becomes of shared chains. */
interface SharedChange extends Pick<BaseRulesChange, 'tails'> {
  readonly removed: readonly OwnedEntry[];
  readonly added: readonly OwnedEntry[];
}

class ChangeWriter {
  private readonly written: readonly OwnedChain[];
  private readonly removed: readonly OwnedChain[];
  private readonly shared: SharedChange;
  /** What is rejected no longer. */
  private readonly ended: SharedChange;

  constructor(
    change: IptablesChange,
    private readonly baseChange: BaseRulesChange,
    private readonly tables: DesiredTables,
    private readonly chainsPerCommit: number,
  ) {
    ({ written: this.written, removed: this.removed } = change.chains());
    const { entriesRemoved, entriesAdded, entriesEnded } = change;
    const whole = { removed: entriesRemoved, added: entriesAdded, tails: [] };
    // A chain that is rewritten for what is added to it loses at once what goes.
    const atOnce = new Set(
      tables.baseRules.shared
        .filter(({ table }) => table === REJECTING)
        .filter((chain) => isRewritten(chain, whole) && entriesAdded.some(isIn(chain)))
        .map(({ name }) => name),
    );
    const mayWait = ({ entry }: OwnedEntry) => entry.table === REJECTING && !atOnce.has(entry.chain);
    // What drops packets of a frontend stands neither before its rules while it is still rejected, nor behind them once it is.
    const [accepted, rejected] = [entriesEnded, entriesAdded].map(rejectedFrontends) as [
      Frontends,
      Frontends,
    ];
    const ended = new Set(entriesEnded.filter((one) => mayWait(one) && !rejected.has(one.entry.frontend)));
    const late = new Set(entriesAdded.filter((one) => mayWait(one) && accepted.has(one.entry.frontend)));
    this.ended = { removed: [...ended], added: [...late], tails: [] };
    this.shared = {
      removed: entriesRemoved.filter((one) => !ended.has(one)),
      added: entriesAdded.filter((one) => !late.has(one)),
      tails: baseChange.tails,
    };
  }

  *write(table: TableName, lines: RestoreLines): Generator<void> {
    const ofNode = this.baseChange.chains.filter((chain) => chain.table === table);
    yield* writeChains(
      lines,
      ofNode.map((chain) => ({ chain })),
      Infinity,
    );
    if (table === OWNED_TABLE) yield* writeChains(lines, this.written, this.chainsPerCommit);
    yield* this.changeShared(table, lines, this.shared);
    yield;
    if (table === OWNED_TABLE) {
      const chains = this.removed.map(({ chain: { name }, owner }) => ({ table, name, owner }));
      yield* removeChains(lines, chains, this.chainsPerCommit);
    }
    lines.commit();
  }

  /** To be called once the frontends have rules. */
  *endRejecting(lines: RestoreLines): Generator<void> {
    if (this.ended.removed.length + this.ended.added.length === 0) return;
    yield* this.changeShared(REJECTING, lines, this.ended);
    lines.commit();
  }

  private *changeShared(table: TableName, lines: RestoreLines, change: SharedChange): Generator<void> {
    const { shared } = this.tables.baseRules;
    const rewritten = shared.filter((chain) => chain.table === table && isRewritten(chain, change));
    const names = new Set(rewritten.map(({ name }) => name));
    this.changeEntries(table, lines, change, names);
    if (names.size > 0) yield* this.rewrite(table, lines, names);
  }

  private changeEntries(
    table: TableName,
    lines: RestoreLines,
    { removed, added, tails }: SharedChange,
    except: ReadonlySet<string>,
  ): void {
    const single = ({ entry }: OwnedEntry) => entry.table === table && !except.has(entry.chain);
    for (const { entry, owner } of removed.filter(single))
      lines.delete(table, entry.chain, entry.rule, owner);
    for (const { entry, owner } of added.filter(single).reverse())
      lines.insert(table, entry.chain, entry.rule, owner);
    for (const { chain, removed: former, added: latter } of tails) {
      if (chain.table !== table || except.has(chain.name)) continue;
      for (const rule of former) lines.delete(table, chain.name, rule);
      for (const rule of latter) lines.append(table, chain.name, rule);
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

function rejectedFrontends(entries: readonly OwnedEntry[]): Frontends {
  return new Set(entries.filter(rejects).map(({ entry }) => entry.frontend));
}

/** Instead of changing single entries. */
function isRewritten(chain: SharedChain, { removed }: SharedChange): boolean {
  return removed.filter(isIn(chain)).length > MOST_DELETIONS;
}

function isIn({ table, name }: Pick<SharedChain, 'table' | 'name'>): (one: OwnedEntry) => boolean {
  return ({ entry }) => entry.table === table && entry.chain === name;
}
