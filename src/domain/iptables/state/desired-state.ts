import isEqual from 'fast-deep-equal';
import { flatText } from '../../model/flat-text.js';
import type { ServicePortKey } from '../../model/service-port-name.js';
import type { IptablesChange } from './iptables-change.js';
import type { Chain, IptablesServicePortRules, SharedEntry, TableName } from '../table.js';

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

/** A frontend about which two service ports have rules. Those of `holder` stand first, so they are what packets meet. */
export interface FrontendConflict {
  readonly frontend: string;
  readonly holder: ServicePortKey;
  readonly loser: ServicePortKey;
}

/**
 * The chains and entries as the fragments of all service ports make them. It keeps who claims each frontend in each
 * shared chain, so that replacing one fragment costs what is in it. What it holds depends only on the fragments
 * present, never on the order in which they came.
 */
export class IptablesDesiredState {
  private readonly fragments = new Map<ServicePortKey, IptablesServicePortRules>();
  /** Who has entries about each frontend in each shared chain, in order. */
  private readonly claimants = new Map<string, readonly ServicePortKey[]>();
  /** What several service ports have entries about. */
  private readonly contested = new Set<string>();
  private readonly entryCounts = new Map<TableName, number>();

  fragment(owner: ServicePortKey): IptablesServicePortRules | undefined {
    return this.fragments.get(owner);
  }

  /**
   * Puts a fragment in place of the owner's present one (undefined: takes it away) and notes the effect in `delta`.
   */
  replace(
    owner: ServicePortKey,
    fragment: IptablesServicePortRules | undefined,
    delta?: IptablesChange,
  ): void {
    const former = this.fragments.get(owner);
    if (fragment) this.fragments.set(owner, fragment);
    else this.fragments.delete(owner);
    delta?.fragment(owner, former, fragment);
    if (former && fragment?.entries === former.entries) return;
    this.replaceEntries(owner, former?.entries ?? [], fragment?.entries ?? [], delta);
    this.countEntries(former, -1);
    this.countEntries(fragment, 1);
  }

  /** How many entries all service ports have in a table's shared chains. Costs nothing. */
  entryCount(table: TableName): number {
    return this.entryCounts.get(table) ?? 0;
  }

  /** The chains of all service ports, those of one after those of another. */
  *chains(): Generator<OwnedChain> {
    for (const [owner, fragment] of this.fragments)
      for (const chain of fragment.chains) yield { chain, owner };
  }

  /** The entries of all service ports in a table, in order of their owners, which is the order of a frontend's claimants. */
  entries(table: TableName): readonly OwnedEntry[] {
    const found: OwnedEntry[] = [];
    // Without a comparison of our own, which would take far longer.
    for (const owner of [...this.fragments.keys()].sort())
      for (const entry of this.fragments.get(owner)!.entries)
        if (entry.table === table) found.push({ entry, owner });
    return found;
  }

  /** Whether a service port has entries about the same frontend in the same chain. */
  isClaimed(entry: SharedEntry): boolean {
    return entry.frontend !== undefined && this.claimants.has(claimId(entry));
  }

  /** Whether there is any conflict. Costs nothing. */
  get isContested(): boolean {
    return this.contested.size > 0;
  }

  /** The conflicts on frontends that the owner is part of. */
  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[] {
    if (!this.isContested) return [];
    const conflicts = new Map<string, FrontendConflict>();
    for (const entry of this.fragments.get(owner)?.entries ?? []) {
      const { frontend } = entry;
      const [holder, ...losers] = this.claimants.get(claimId(entry)) ?? [];
      if (frontend === undefined || holder === undefined) continue;
      for (const loser of losers) conflicts.set(`${frontend} ${loser}`, { frontend, holder, loser });
    }
    return [...conflicts.values()];
  }

  private countEntries(fragment: IptablesServicePortRules | undefined, step: number): void {
    for (const { table } of fragment?.entries ?? [])
      this.entryCounts.set(table, this.entryCount(table) + step);
  }

  private replaceEntries(
    owner: ServicePortKey,
    before: readonly SharedEntry[],
    after: readonly SharedEntry[],
    delta: IptablesChange | undefined,
  ): void {
    const former = byClaim(before);
    for (const [id, entries] of byClaim(after)) {
      const present = former.get(id);
      former.delete(id);
      if (!present || !isEqual(present.map(ruleOf), entries.map(ruleOf)))
        this.claim(id, owner, present, entries, delta);
    }
    for (const [id, entries] of former) this.claim(id, owner, entries, undefined, delta);
  }

  private claim(
    id: string,
    owner: ServicePortKey,
    former: readonly SharedEntry[] | undefined,
    present: readonly SharedEntry[] | undefined,
    delta: IptablesChange | undefined,
  ): void {
    const before = this.claimants.get(id) ?? [];
    const others = before.filter((claimant) => claimant !== owner);
    // A literal of one is exactly as long: nearly all are, and there are very many.
    const after = !present ? others : others.length === 0 ? [owner] : [...others, owner].sort();
    if (after.length > 0) this.claimants.set(id, after);
    else this.claimants.delete(id);
    if (after.length > 1) this.contested.add(id);
    else if (before.length > 1) this.contested.delete(id);
    if (!delta) return;
    const entriesOf = (owners: readonly ServicePortKey[], own: readonly SharedEntry[] = []) =>
      owners.flatMap((each) =>
        (each === owner ? own : this.entriesAbout(id, each)).map((entry) => ({ entry, owner: each })),
      );
    delta.entries(id, entriesOf(before, former), entriesOf(after, present));
  }

  private entriesAbout(id: string, owner: ServicePortKey): readonly SharedEntry[] {
    return this.fragments.get(owner)?.entries.filter((entry) => claimId(entry) === id) ?? [];
  }
}

/** Entries whose order counts, by what they are about. */
function byClaim(entries: readonly SharedEntry[]): Map<string, SharedEntry[]> {
  const claims = new Map<string, SharedEntry[]>();
  for (const entry of entries) {
    const id = claimId(entry);
    const present = claims.get(id);
    if (present) present.push(entry);
    else claims.set(id, [entry]);
  }
  return claims;
}

/** Entries of one chain with the same identity stand in an order: those about one frontend, or equal ones. */
export function claimId({ table, chain, frontend, rule }: SharedEntry): string {
  return flatText(table, ' ', chain, ' ', frontend ?? rule);
}

function ruleOf({ rule }: SharedEntry): string {
  return rule;
}
