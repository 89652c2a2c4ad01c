import type { ServicePortKey } from '../model/service-port-name.js';
import type { OwnedChain, OwnedEntry } from './composition.js';
import type { Chain } from './table.js';

interface ChainChange {
  owner: ServicePortKey;
  readonly before: Chain | undefined;
  after: Chain | undefined;
}

interface EntriesChange {
  readonly before: readonly OwnedEntry[];
  after: readonly OwnedEntry[];
}

/** What a batch of fragment changes does to the tables, folded together: what comes and goes again leaves no trace. */
export class IptablesDelta {
  private readonly chainChanges = new Map<string, ChainChange>();
  private readonly entriesChanges = new Map<string, EntriesChange>();

  chain(id: string, owner: ServicePortKey, before: Chain | undefined, after: Chain | undefined): void {
    const change = this.chainChanges.get(id);
    if (change) Object.assign(change, { owner, after });
    else this.chainChanges.set(id, { owner, before, after });
  }

  /** All entries that stand in an order, those of other service ports as well. */
  entries(id: string, before: readonly OwnedEntry[], after: readonly OwnedEntry[]): void {
    const change = this.entriesChanges.get(id);
    if (change) change.after = after;
    else this.entriesChanges.set(id, { before, after });
  }

  get isEmpty(): boolean {
    return (
      this.written.length === 0 &&
      this.removed.length === 0 &&
      this.entriesRemoved.length === 0 &&
      this.entriesAdded.length === 0
    );
  }

  /** Chains that are new, or whose rules changed: each is to be emptied and filled with these rules. */
  get written(): readonly OwnedChain[] {
    return [...this.chainChanges.values()].flatMap(({ owner, before, after }) =>
      after && !(before && sameRules(before, after)) ? [{ chain: after, owner }] : [],
    );
  }

  /** Chains that no service port has any more. Rules that jump to them go in the same batch. */
  get removed(): readonly OwnedChain[] {
    return [...this.chainChanges.values()].flatMap(({ owner, before, after }) =>
      before && !after ? [{ chain: before, owner }] : [],
    );
  }

  /** By how many rules the chains of service ports have grown; negative when they have shrunk. */
  get rulesGained(): number {
    let gained = 0;
    for (const { before, after } of this.chainChanges.values())
      gained += (after?.rules.length ?? 0) - (before?.rules.length ?? 0);
    return gained;
  }

  /** Entries to delete from shared chains, each once for each time it is named. They go before any is added. */
  get entriesRemoved(): readonly OwnedEntry[] {
    return this.differentEntries().flatMap(({ before }) => before);
  }

  /**
   * Entries to add to shared chains. Their order must be that of the rules in the chain: put at its head, the last one
   * goes first. Where several service ports claim a frontend, all their entries are removed and added anew together.
   */
  get entriesAdded(): readonly OwnedEntry[] {
    return this.differentEntries().flatMap(({ after }) => after);
  }

  private differentEntries(): readonly EntriesChange[] {
    return [...this.entriesChanges.values()].filter(({ before, after }) => !sameEntries(before, after));
  }
}

function sameEntries(one: readonly OwnedEntry[], other: readonly OwnedEntry[]): boolean {
  return (
    one.length === other.length && one.every(({ entry }, index) => entry.rule === other[index]!.entry.rule)
  );
}

function sameRules(one: Chain, other: Chain): boolean {
  return (
    one.rules.length === other.rules.length && one.rules.every((rule, index) => rule === other.rules[index])
  );
}
