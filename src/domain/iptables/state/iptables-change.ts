import type { ServicePortKey } from '../../model/service-port-name.js';
import type { OwnedEntry } from './desired-state.js';
import { chainsChange } from './chains-change.js';
import type { Chain, ChainsChange, IptablesServicePortRules, RemovedChain } from '../table.js';

/** A service port's fragment from one to the other. */
interface FragmentChange {
  readonly before: IptablesServicePortRules | undefined;
  readonly after: IptablesServicePortRules | undefined;
  /** What is kept of its effect on the chains once somebody asked for it. */
  kept?: Omit<ChainsChange, 'written'>;
}

/** Chains of one service port. */
export interface ChainsOf {
  readonly owner: ServicePortKey;
  readonly chains: readonly Chain[];
}

interface EntriesChange {
  readonly before: readonly OwnedEntry[];
  after: readonly OwnedEntry[];
}

/**
 * What a batch of fragment changes does to the tables, folded together: what comes and goes again leaves no trace. Chains
 * are made and compared while somebody goes through them: by far most of the work, for which the tool need not wait.
 */
export class IptablesChange {
  private readonly fragmentChanges = new Map<ServicePortKey, FragmentChange>();
  private readonly entriesChanges = new Map<string, EntriesChange>();

  fragment(
    owner: ServicePortKey,
    before: IptablesServicePortRules | undefined,
    after: IptablesServicePortRules | undefined,
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

  /**
   * Chains that are new, or whose rules changed, of one service port after another: each is to be emptied and filled with
   * these rules. They are made anew each time, and not kept.
   */
  *written(): Generator<ChainsOf> {
    for (const [owner, change] of this.fragmentChanges) {
      const { written } = effectOf(change);
      if (written.length > 0) yield { owner, chains: written };
    }
  }

  /** Chains that no service port has any more. Rules that jump to them go in the same batch. */
  get removed(): readonly { readonly chain: RemovedChain; readonly owner: ServicePortKey }[] {
    return [...this.fragmentChanges].flatMap(([owner, change]) =>
      (change.kept ?? effectOf(change)).removed.map((chain) => ({ chain, owner })),
    );
  }

  /** By how many rules the chains of service ports have grown; negative when they have shrunk. */
  get rulesGained(): number {
    let gained = 0;
    for (const change of this.fragmentChanges.values())
      gained += (change.kept ?? effectOf(change)).rulesGained;
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

  /** By how many entries the tables grow, as iptables-legacy counts: a rule is one, a chain two besides its rules. */
  get tableGrowth(): number {
    let growth = this.rulesGained + this.entriesAdded.length - this.entriesRemoved.length;
    for (const { before, after } of this.fragmentChanges.values())
      growth += 2 * ((after?.chains.length ?? 0) - (before?.chains.length ?? 0));
    return growth;
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

/** What is asked for again is kept in the change; what is written is not, since it is very much. */
function effectOf(change: FragmentChange): ChainsChange {
  const { before, after } = change;
  const known = before && after?.chainsSince?.(before);
  const { written, ...kept } = known ?? chainsChange(before?.chains ?? [], after?.chains ?? []);
  change.kept = kept;
  return { written, ...kept };
}
