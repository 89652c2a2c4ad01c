import type { ServicePortKey } from '../model/service-port-name.js';
import { sameElements, type Fragment, type Part, type PlacedElement } from './fragment.js';
import type { Structure } from './structure.js';
import type { TableDelta } from './table-delta.js';

interface Claim {
  readonly owner: ServicePortKey;
  readonly part: Part;
}

/** A frontend that two service ports claim; `holder` has it, `loser` goes without. */
export interface FrontendConflict {
  readonly frontend: string;
  readonly holder: ServicePortKey;
  readonly loser: ServicePortKey;
}

/**
 * The table as the fragments of all service ports make it. It keeps who claims each part and how many use each
 * structure, so that replacing one fragment costs what is in it. The result depends only on the fragments present,
 * never on the order in which they came.
 */
export class TableComposition {
  private readonly fragments = new Map<ServicePortKey, Fragment>();
  /** Claims on each part, in order of owners; the first holds it. */
  private readonly claims = new Map<string, readonly Claim[]>();
  private readonly users = new Map<string, { readonly structure: Structure; count: number }>();

  fragment(owner: ServicePortKey): Fragment | undefined {
    return this.fragments.get(owner);
  }

  /** Who has the part; undefined when nobody claims it. */
  holder(part: string): ServicePortKey | undefined {
    return this.claims.get(part)?.[0]?.owner;
  }

  /** Puts a fragment in place of the owner's present one (undefined: takes it away) and notes the effect in `delta`. */
  replace(owner: ServicePortKey, fragment: Fragment | undefined, delta?: TableDelta): void {
    const former = new Map(this.fragments.get(owner)?.map((part) => [part.key, part]));
    if (fragment) this.fragments.set(owner, fragment);
    else this.fragments.delete(owner);
    for (const part of fragment ?? []) {
      const previous = former.get(part.key);
      former.delete(part.key);
      if (!previous || !sameElements(previous, part)) this.claim(owner, part, delta);
    }
    for (const part of former.values()) this.release(owner, part.key, delta);
  }

  /** Structures in use, by name. */
  *structures(): Iterable<Structure> {
    for (const { structure } of this.users.values()) yield structure;
  }

  /** Hands over every element that a fragment puts into the table, with the service port that holds it. */
  forEachElement(take: (element: PlacedElement, owner: ServicePortKey) => void): void {
    for (const [first] of this.claims.values()) {
      for (const element of first!.part.elements) take(element, first!.owner);
    }
  }

  /** The conflicts on frontends that the owner is part of. */
  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[] {
    const conflicts: FrontendConflict[] = [];
    for (const { key, frontend } of this.fragments.get(owner) ?? []) {
      const [holder, ...losers] = this.claims.get(key) ?? [];
      if (frontend === undefined || !holder) continue;
      for (const loser of losers) conflicts.push({ frontend, holder: holder.owner, loser: loser.owner });
    }
    return conflicts;
  }

  private claim(owner: ServicePortKey, part: Part, delta: TableDelta | undefined): void {
    const present = this.claims.get(part.key);
    const claims = present
      ? [...present.filter((claim) => claim.owner !== owner), { owner, part }]
      : [{ owner, part }];
    if (claims.length > 1) claims.sort((a, b) => (a.owner < b.owner ? -1 : 1));
    this.claims.set(part.key, claims);
    this.switchHolder(present?.[0], claims[0], delta);
  }

  private release(owner: ServicePortKey, key: string, delta: TableDelta | undefined): void {
    const present = this.claims.get(key) ?? [];
    const remaining = present.filter((claim) => claim.owner !== owner);
    if (remaining.length > 0) this.claims.set(key, remaining);
    else this.claims.delete(key);
    this.switchHolder(present[0], remaining[0], delta);
  }

  private switchHolder(
    before: Claim | undefined,
    after: Claim | undefined,
    delta: TableDelta | undefined,
  ): void {
    if (before === after) return;
    for (const element of before?.part.elements ?? []) delta?.remove(element.set, element, before!.owner);
    for (const element of after?.part.elements ?? []) delta?.add(element.set, element, after!.owner);
    for (const structure of after?.part.uses ?? []) this.use(structure, delta);
    for (const structure of before?.part.uses ?? []) this.abandon(structure, delta);
  }

  private use(structure: Structure, delta: TableDelta | undefined): void {
    const user = this.users.get(structure.name);
    if (user) {
      user.count++;
      return;
    }
    this.users.set(structure.name, { structure, count: 1 });
    delta?.structureCame(structure);
  }

  private abandon(structure: Structure, delta: TableDelta | undefined): void {
    const user = this.users.get(structure.name)!;
    if (--user.count > 0) return;
    this.users.delete(structure.name);
    delta?.structureWent(structure);
  }
}
