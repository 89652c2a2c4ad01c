import type { ServicePortKey } from '../model/service-port-name.js';
import type { OwnedChain, OwnedEntry } from './composition.js';
import type { Chain, IptablesFragment } from './table.js';

/** A service port's fragment from one to the other, and what that does to its chains, once it was asked for. */
interface FragmentChange {
  readonly before: IptablesFragment | undefined;
  readonly after: IptablesFragment | undefined;
  chains?: readonly ChainChange[];
}

interface ChainChange {
  readonly before: Chain | undefined;
  readonly after: Chain | undefined;
}

interface EntriesChange {
  readonly before: readonly OwnedEntry[];
  after: readonly OwnedEntry[];
}

/**
 * What a batch of fragment changes does to the tables, folded together: what comes and goes again leaves no trace. Chains
 * are made and compared when they are asked for, once: by far most of the work, for which the tool need not wait.
 */
export class IptablesDelta {
  private readonly fragmentChanges = new Map<ServicePortKey, FragmentChange>();
  private readonly entriesChanges = new Map<string, EntriesChange>();

  fragment(
    owner: ServicePortKey,
    before: IptablesFragment | undefined,
    after: IptablesFragment | undefined,
  ): void {
    const known = this.fragmentChanges.get(owner);
    this.fragmentChanges.set(owner, { before: known ? known.before : before, after });
  }

  /** All entries that stand in an order, those of other service ports as well. */
  entries(id: string, before: readonly OwnedEntry[], after: readonly OwnedEntry[]): void {
    const change = this.entriesChanges.get(id);
    if (change) change.after = after;
    else this.entriesChanges.set(id, { before, after });
  }

  get isEmpty(): boolean {
    for (const _ of this.written()) return false;
    return this.removed.length === 0 && this.entriesRemoved.length === 0 && this.entriesAdded.length === 0;
  }

  /** Chains that are new, or whose rules changed: each is to be emptied and filled with these rules. */
  *written(): Generator<OwnedChain> {
    for (const { owner, after } of this.chainChanges()) if (after) yield { chain: after, owner };
  }

  /** Chains that no service port has any more. Rules that jump to them go in the same batch. */
  get removed(): readonly OwnedChain[] {
    return [...this.chainChanges()].flatMap(({ owner, before, after }) =>
      before && !after ? [{ chain: before, owner }] : [],
    );
  }

  /** By how many rules the chains of service ports have grown; negative when they have shrunk. */
  get rulesGained(): number {
    let gained = 0;
    for (const { before, after } of this.chainChanges())
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

  private *chainChanges(): Generator<ChainChange & { readonly owner: ServicePortKey }> {
    for (const [owner, change] of this.fragmentChanges) {
      change.chains ??= differentChains(change.before?.chains ?? [], change.after?.chains ?? []);
      for (const { before, after } of change.chains) yield { owner, before, after };
    }
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

function differentChains(before: readonly Chain[], after: readonly Chain[]): readonly ChainChange[] {
  const former = new Map(before.map((chain) => [chain.name, chain]));
  const changes: ChainChange[] = [];
  for (const chain of after) {
    const present = former.get(chain.name);
    former.delete(chain.name);
    if (present?.origin !== undefined && present.origin === chain.origin) continue;
    const was = present && made(present);
    const is = made(chain);
    if (!was || !sameRules(was, is)) changes.push({ before: was, after: is });
  }
  for (const chain of former.values()) changes.push({ before: made(chain), after: undefined });
  return changes;
}

/** With rules that are made once: whoever reads a delta asks for them several times. */
function made({ table, name, rules }: Chain): Chain {
  return { table, name, rules };
}

function sameRules(one: Chain, other: Chain): boolean {
  return (
    one.rules.length === other.rules.length && one.rules.every((rule, index) => rule === other.rules[index])
  );
}
