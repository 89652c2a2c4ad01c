/** Changes of the desired state, and the chains and entries that they concern. */

import isEqual from 'fast-deep-equal';
import { flatText } from '../model/text.js';
import { getOrMake } from '../model/maps.js';
import type { ServicePortKey } from '../model/service-port-name.js';
import { isUnexplained } from '../reconcile/claims.js';
import {
  rulesInChains,
  type Chain,
  type ChainsChange,
  type IptablesServicePortRules,
  type SharedEntry,
  type BaseRules,
  type RuleText,
  type SharedChain,
} from './table.js';

interface RulesChange {
  readonly before: IptablesServicePortRules | undefined;
  readonly after: IptablesServicePortRules | undefined;
}

interface EntriesChange {
  readonly before: readonly OwnedEntry[];
  readonly after: readonly OwnedEntry[];
}

/** The combined effect of a batch of replaced rules on the tables: entries added and removed again cancel out. */
export class IptablesChange {
  private readonly rulesChanges = new Map<ServicePortKey, RulesChange>();
  private readonly entriesChanges = new Map<string, EntriesChange>();

  rulesReplaced(
    owner: ServicePortKey,
    before: IptablesServicePortRules | undefined,
    after: IptablesServicePortRules | undefined,
  ): void {
    const known = this.rulesChanges.get(owner);
    this.rulesChanges.set(owner, { before: known ? known.before : before, after });
  }

  /** @param before all entries with this claim id, in order, those of other service ports as well */
  entriesReplaced(id: string, before: readonly OwnedEntry[], after: readonly OwnedEntry[]): void {
    const known = this.entriesChanges.get(id);
    this.entriesChanges.set(id, { before: known ? known.before : before, after });
  }

  /** Compares the chains of all service ports that changed. Those of one service port stand together. */
  chains(): ChainsChange<OwnedChain> {
    const unexplained = this.unexplainedChains();
    const written: OwnedChain[] = [];
    const removed: OwnedChain[] = [];
    for (const [owner, { before, after }] of this.rulesChanges) {
      if (!after && isUnexplained(owner)) continue;
      const change =
        before || unexplained.size === 0
          ? chainsChange(before?.chains ?? [], after?.chains ?? [])
          : adopt(unexplained, after);
      for (const chain of change.written) written.push({ chain, owner });
      for (const chain of change.removed) removed.push({ chain, owner });
    }
    removed.push(...unexplained.values());
    return { written, removed };
  }

  /** Entries to delete from shared chains, each once for each time it is named. They go before any is added. */
  get entriesRemoved(): readonly OwnedEntry[] {
    return this.differentEntries().flatMap(({ before }) => before);
  }

  /**
   * Entries to add to shared chains. Their order must be that of the rules in the chain: put at its head, the last one
   * goes first. Where several service ports claim a frontend, all their entries are removed and added again together.
   */
  get entriesAdded(): readonly OwnedEntry[] {
    return this.differentEntries().flatMap(({ after }) => after);
  }

  /** By how many entries the tables grow, as iptables-legacy counts: a rule is one, a chain two besides its rules. */
  get tableGrowth(): number {
    let growth = this.entriesAdded.length - this.entriesRemoved.length;
    for (const { before, after } of this.rulesChanges.values()) growth += sizeOf(after) - sizeOf(before);
    return growth;
  }

  /** Chains of rules that nothing explained until now. Service ports that have come for them may have the same. */
  private unexplainedChains(): Map<string, OwnedChain> {
    const chains = new Map<string, OwnedChain>();
    for (const [owner, { before, after }] of this.rulesChanges)
      if (before && !after && isUnexplained(owner))
        for (const chain of before.chains) chains.set(chain.name, { chain, owner });
    return chains;
  }

  private differentEntries(): readonly EntriesChange[] {
    return [...this.entriesChanges.values()].filter(({ before, after }) => !sameEntries(before, after));
  }
}

/** Takes chains over, so that only those with other rules are written. */
function adopt(
  unexplained: Map<string, OwnedChain>,
  after: IptablesServicePortRules | undefined,
): ChainsChange {
  const chains = after?.chains ?? [];
  const former: Chain[] = [];
  for (const { name } of chains) {
    const adopted = unexplained.get(name);
    if (adopted) former.push(adopted.chain);
    unexplained.delete(name);
  }
  return chainsChange(former, chains);
}

function sameEntries(one: readonly OwnedEntry[], other: readonly OwnedEntry[]): boolean {
  return (
    one.length === other.length && one.every(({ entry }, index) => entry.rule === other[index]!.entry.rule)
  );
}

function sizeOf(rules: IptablesServicePortRules | undefined): number {
  return rules ? rulesInChains(rules.chains) + 2 * rules.chains.length : 0;
}

/** The changes of the chains of one service port: compared by their ids if all have one, else by their names and rules. */
export function chainsChange(before: readonly Chain[], after: readonly Chain[]): ChainsChange {
  const haveId = ([first]: readonly Chain[]) => !first || first.id !== undefined;
  const allHaveId = haveId(before) && haveId(after);
  const idOf = (chain: Chain) => (allHaveId ? chain.id! : chain.name);
  const isSame = (one: Chain, other: Chain) =>
    allHaveId ? one.origin === other.origin : isEqual(one.rules, other.rules);
  const former = new Map(before.map((chain) => [idOf(chain), chain]));
  const written: Chain[] = [];
  for (const chain of after) {
    const id = idOf(chain);
    const present = former.get(id);
    former.delete(id);
    if (!present || !isSame(present, chain)) written.push(chain);
  }
  return { written, removed: [...former.values()] };
}

/** A chain, and the service port behind it. */
export interface OwnedChain {
  readonly chain: Chain;
  readonly owner: ServicePortKey;
}

/** A rule in a shared chain, and the service port behind it. */
export interface OwnedEntry {
  readonly entry: SharedEntry;
  readonly owner: ServicePortKey;
}

/** Entries with the same id stand in a given order: those of one chain about one frontend, or equal ones. */
export function claimId({ table, chain, frontend, rule }: SharedEntry): string {
  return flatText(table, ' ', chain, ' ', frontend ?? rule);
}

/** After a rejection two service ports may keep the same rule of the kernel about a frontend. It is there once, the first one's. */
export function withoutSharedRules(entries: readonly OwnedEntry[]): readonly OwnedEntry[] {
  // As nearly always, and with each change.
  if (entries.every(({ owner }) => owner === entries[0]!.owner)) return entries;
  const ownerOf = new Map<string, ServicePortKey>();
  return entries.filter(({ entry: { chain, frontend, rule }, owner }) => {
    if (frontend === undefined) return true;
    return getOrMake(ownerOf, flatText(chain, ' ', rule), () => owner) === owner;
  });
}

/** The steps from one set of base rules to another: when the node's addresses, the mark or the host's counters changed. */
export interface BaseRulesChange {
  /** Chains to empty and fill with these rules. */
  readonly chains: readonly Chain[];
  /** Rules to take from the end of shared chains and to put there, in order. */
  readonly tails: readonly {
    readonly chain: SharedChain;
    readonly removed: readonly RuleText[];
    readonly added: readonly RuleText[];
  }[];
}

/** Chains that only the previous base rules have stay unchanged: other programs may use them (docs/internals/spec/iptables.md §5.4). */
export function baseRulesChange(before: BaseRules, after: BaseRules): BaseRulesChange {
  return {
    chains: after.chains.filter(
      (chain) => !isEqual(before.chains.find(sameChain(chain))?.rules, chain.rules),
    ),
    tails: after.shared.flatMap((chain) => {
      const removed = before.shared.find(sameChain(chain))?.after ?? [];
      return isEqual(removed, chain.after) ? [] : [{ chain, removed, added: chain.after }];
    }),
  };
}

function sameChain({
  table,
  name,
}: Pick<Chain, 'table' | 'name'>): (other: Pick<Chain, 'table' | 'name'>) => boolean {
  return (other) => other.table === table && other.name === name;
}
