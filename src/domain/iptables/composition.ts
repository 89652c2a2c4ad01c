import type { ServicePortKey } from '../model/service-port-name.js';
import type { IptablesDelta } from './delta.js';
import type { Chain, IptablesFragment, SharedEntry, TableName } from './table.js';

/** What one service port has to say in one shared chain about the packets of one frontend, in order. */
export interface Claim {
  readonly owner: ServicePortKey;
  readonly entries: readonly SharedEntry[];
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
export class IptablesComposition {
  private readonly fragments = new Map<ServicePortKey, IptablesFragment>();
  /** The claims on each frontend in each shared chain, in order of owners. */
  private readonly claims = new Map<string, readonly Claim[]>();

  get size(): number {
    return this.fragments.size;
  }

  fragment(owner: ServicePortKey): IptablesFragment | undefined {
    return this.fragments.get(owner);
  }

  /**
   * Puts a fragment in place of the owner's present one (undefined: takes it away) and notes the effect in `delta`.
   * Only for that the chains of both are made.
   */
  replace(owner: ServicePortKey, fragment: IptablesFragment | undefined, delta?: IptablesDelta): void {
    const former = this.fragments.get(owner);
    if (fragment) this.fragments.set(owner, fragment);
    else this.fragments.delete(owner);
    if (delta) replaceChains(owner, former?.chains() ?? [], fragment?.chains() ?? [], delta);
    this.replaceEntries(owner, former?.entries ?? [], fragment?.entries ?? [], delta);
  }

  /** The chains of all service ports, those of one after those of another. */
  *chains(): Generator<OwnedChain> {
    for (const [owner, fragment] of this.fragments)
      for (const chain of fragment.chains()) yield { chain, owner };
  }

  /** The entries of all service ports, in order of their owners, which is the order of each frontend's claims too. */
  *entries(): Generator<OwnedEntry> {
    const inOrder = [...this.fragments].sort(([one], [other]) => (one < other ? -1 : 1));
    for (const [owner, { entries }] of inOrder) for (const entry of entries) yield { entry, owner };
  }

  /** The conflicts on frontends that the owner is part of. */
  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[] {
    const conflicts = new Map<string, FrontendConflict>();
    for (const entry of this.fragments.get(owner)?.entries ?? []) {
      const { frontend } = entry;
      const [holder, ...losers] = this.claims.get(claimId(entry)) ?? [];
      if (frontend === undefined || !holder) continue;
      for (const loser of losers)
        conflicts.set(`${frontend} ${loser.owner}`, {
          frontend,
          holder: holder.owner,
          loser: loser.owner,
        });
    }
    return [...conflicts.values()];
  }

  private replaceEntries(
    owner: ServicePortKey,
    before: readonly SharedEntry[],
    after: readonly SharedEntry[],
    delta: IptablesDelta | undefined,
  ): void {
    const former = byClaim(before);
    for (const [id, entries] of byClaim(after)) {
      const present = former.get(id);
      former.delete(id);
      if (!present || !sameTexts(present.map(ruleOf), entries.map(ruleOf)))
        this.claim(id, owner, entries, delta);
    }
    for (const id of former.keys()) this.claim(id, owner, undefined, delta);
  }

  private claim(
    id: string,
    owner: ServicePortKey,
    entries: readonly SharedEntry[] | undefined,
    delta: IptablesDelta | undefined,
  ): void {
    const before = this.claims.get(id) ?? [];
    const after = before.filter((claim) => claim.owner !== owner);
    if (entries) after.push({ owner, entries });
    if (after.length > 1) after.sort((one, other) => (one.owner < other.owner ? -1 : 1));
    if (after.length > 0) this.claims.set(id, after);
    else this.claims.delete(id);
    delta?.claims(id, before, after);
  }
}

function replaceChains(
  owner: ServicePortKey,
  before: readonly Chain[],
  after: readonly Chain[],
  delta: IptablesDelta,
): void {
  const former = new Map(before.map((chain) => [chainId(chain.table, chain.name), chain]));
  for (const chain of after) {
    const id = chainId(chain.table, chain.name);
    const present = former.get(id);
    former.delete(id);
    if (!present || !sameTexts(present.rules, chain.rules)) delta.chain(id, owner, present, chain);
  }
  for (const [id, chain] of former) delta.chain(id, owner, chain, undefined);
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
  return `${table} ${chain} ${frontend ?? rule}`;
}

function chainId(table: TableName, name: string): string {
  return `${table} ${name}`;
}

function ruleOf({ rule }: SharedEntry): string {
  return rule;
}

function sameTexts(one: readonly string[], other: readonly string[]): boolean {
  return one.length === other.length && one.every((text, index) => text === other[index]);
}
