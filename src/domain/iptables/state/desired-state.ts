import isEqual from 'fast-deep-equal';
import type { ServicePortKey } from '../../model/service-port-name.js';
import { Claims, type FrontendConflict } from '../../reconcile/claims.js';
import type { DesiredState } from '../../reconcile/desired-state.js';
import {
  OWNED_TABLE,
  rulesInChains,
  type IptablesServicePortRules,
  type SharedEntry,
  type TableName,
} from '../table.js';
import type { IptablesChange } from './iptables-change.js';
import { claimantsOf } from './frontend-claimants.js';
import { claimId, withoutSharedRules, type OwnedChain, type OwnedEntry } from './owned-rules.js';
import { getOrMake } from '../../model/get-or-make.js';

/**
 * The chains and entries as the rules of all service ports make them. It keeps who claims each frontend in each shared
 * chain, so that replacing the rules of one service port costs what is in them. All claimants keep their entries, in each chain by
 * their keys; so one that forwards in table nat has the packets of one that turns them away in table filter.
 */
export class IptablesDesiredState implements DesiredState<IptablesServicePortRules, IptablesChange> {
  private readonly rulesByOwner = new Map<ServicePortKey, IptablesServicePortRules>();
  private readonly claims = new Claims();
  private readonly ruleCounts = new Map<TableName, number>();

  rules(owner: ServicePortKey): IptablesServicePortRules | undefined {
    return this.rulesByOwner.get(owner);
  }

  replace(owner: ServicePortKey, rules: IptablesServicePortRules | undefined, change?: IptablesChange): void {
    const former = this.rulesByOwner.get(owner);
    this.put(owner, rules);
    change?.rulesReplaced(owner, former, rules);
    if (former?.entries !== rules?.entries)
      this.replaceEntries(owner, former?.entries ?? [], rules?.entries ?? [], change);
  }

  /** How many rules service ports have in a table, in chains of their own and in shared ones. Costs nothing. */
  ruleCount(table: TableName): number {
    return this.ruleCounts.get(table) ?? 0;
  }

  /** The chains of all service ports, those of one after those of another. */
  *chains(): Generator<OwnedChain> {
    for (const [owner, { chains }] of this.rulesByOwner) for (const chain of chains) yield { chain, owner };
  }

  /** The entries of all service ports in a table, in order of their owners, which is the order of a frontend's claimants. */
  entries(table: TableName): readonly OwnedEntry[] {
    const found: OwnedEntry[] = [];
    // A comparison function of our own would take far longer.
    for (const owner of [...this.rulesByOwner.keys()].sort())
      for (const entry of this.rulesByOwner.get(owner)!.entries)
        if (entry.table === table) found.push({ entry, owner });
    return this.claims.isContested ? withoutSharedRules(found) : found;
  }

  /** Whether others claim what the entry is about, in the entry's chain, and `owner` does not. */
  isClaimedByOthersOnly(entry: SharedEntry, owner: ServicePortKey): boolean {
    const claimants = this.claims.claimants(claimId(entry));
    return claimants.length > 0 && !claimants.includes(owner);
  }

  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[] {
    // Those that do not forward have entries in table filter, and only there, so no chain need be contested.
    if (!this.claims.isContested && this.ruleCount('filter') === 0) return [];
    const conflicts = new Map<string, FrontendConflict>();
    for (const entry of this.rules(owner)?.entries ?? []) {
      const { frontend } = entry;
      if (frontend === undefined) continue;
      const [holder, ...losers] = claimantsOf(this.claims, entry);
      // One frontend may have entries in several chains.
      for (const loser of losers) conflicts.set(`${frontend} ${loser}`, { frontend, holder: holder!, loser });
    }
    return [...conflicts.values()];
  }

  private put(owner: ServicePortKey, rules: IptablesServicePortRules | undefined): void {
    const former = this.rulesByOwner.get(owner);
    if (former) this.count(former, -1);
    if (rules) this.rulesByOwner.set(owner, rules);
    else this.rulesByOwner.delete(owner);
    if (rules) this.count(rules, 1);
  }

  private count(rules: IptablesServicePortRules, sign: 1 | -1): void {
    const add = (table: TableName, rules: number) =>
      this.ruleCounts.set(table, this.ruleCount(table) + sign * rules);
    add(OWNED_TABLE, rulesInChains(rules.chains));
    for (const { table } of rules.entries) add(table, 1);
  }

  private replaceEntries(
    owner: ServicePortKey,
    before: readonly SharedEntry[],
    after: readonly SharedEntry[],
    change: IptablesChange | undefined,
  ): void {
    const former = byClaim(before);
    for (const [id, entries] of byClaim(after)) {
      const present = former.get(id);
      former.delete(id);
      if (!present || !isEqual(present.map(ruleOf), entries.map(ruleOf)))
        this.replaceClaim(id, owner, present, entries, change);
    }
    for (const [id, entries] of former) this.replaceClaim(id, owner, entries, undefined, change);
  }

  private replaceClaim(
    id: string,
    owner: ServicePortKey,
    former: readonly SharedEntry[] | undefined,
    present: readonly SharedEntry[] | undefined,
    change: IptablesChange | undefined,
  ): void {
    const before = this.claims.claimants(id);
    if (present) this.claims.claim(id, owner);
    else this.claims.release(id, owner);
    const after = this.claims.claimants(id);
    if (change) {
      const entriesOf = (owners: readonly ServicePortKey[], own: readonly SharedEntry[] = []) =>
        withoutSharedRules(
          owners.flatMap((each) =>
            (each === owner ? own : this.entriesOn(id, each)).map((entry) => ({ entry, owner: each })),
          ),
        );
      change.entriesReplaced(id, entriesOf(before, former), entriesOf(after, present));
    }
    for (const other of before) if (other !== owner && !after.includes(other)) this.giveUp(id, other);
  }

  private entriesOn(id: string, owner: ServicePortKey): readonly SharedEntry[] {
    return this.rules(owner)?.entries.filter((entry) => claimId(entry) === id) ?? [];
  }

  /** The claim of rules that nothing explains has ended, and so have its entries. */
  private giveUp(id: string, owner: ServicePortKey): void {
    const rules = this.rules(owner)!;
    this.put(owner, { ...rules, entries: rules.entries.filter((entry) => claimId(entry) !== id) });
  }
}

/** Entries whose order counts, by what they are about. */
function byClaim(entries: readonly SharedEntry[]): Map<string, SharedEntry[]> {
  const claims = new Map<string, SharedEntry[]>();
  for (const entry of entries) getOrMake(claims, claimId(entry), () => []).push(entry);
  return claims;
}

function ruleOf({ rule }: SharedEntry): string {
  return rule;
}
