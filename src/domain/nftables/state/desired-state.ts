import type { ServicePortKey } from '../../model/service-port-name.js';
import { Claims, type FrontendConflict } from '../../reconcile/claims.js';
import type { DesiredState } from '../../reconcile/desired-state.js';
import type { Structure } from '../layout/structure.js';
import {
  sameElements,
  type NftablesServicePortRules,
  type Part,
  type PlacedElement,
} from './service-port-rules.js';
import type { TableChange } from './table-change.js';

/** A part, and the service port that holds it. */
interface HeldPart {
  readonly owner: ServicePortKey;
  readonly part: Part;
}

/**
 * The table as the rules of all service ports make it. It keeps who claims each part and how many use each structure, so
 * that replacing the rules of one service port costs what is in them.
 */
export class NftablesDesiredState implements DesiredState<NftablesServicePortRules, TableChange> {
  private readonly rulesByOwner = new Map<ServicePortKey, NftablesServicePortRules>();
  private readonly claims = new Claims();
  private readonly users = new Map<string, { readonly structure: Structure; count: number }>();

  rules(owner: ServicePortKey): NftablesServicePortRules | undefined {
    return this.rulesByOwner.get(owner);
  }

  /** Who has the part; undefined when nobody claims it. */
  holder(part: string): ServicePortKey | undefined {
    return this.claims.holder(part);
  }

  replace(owner: ServicePortKey, rules: NftablesServicePortRules | undefined, change?: TableChange): void {
    const former = new Map(this.rulesByOwner.get(owner)?.map((part) => [part.key, part]));
    if (rules) this.rulesByOwner.set(owner, rules);
    else this.rulesByOwner.delete(owner);
    for (const part of rules ?? []) {
      const previous = former.get(part.key);
      former.delete(part.key);
      if (!previous) this.claim(owner, part, change);
      else if (!sameElements(previous, part) && this.holder(part.key) === owner)
        this.switchHolder({ owner, part: previous }, { owner, part }, change);
    }
    for (const part of former.values()) this.release(owner, part, change);
  }

  /** Structures in use. */
  *structures(): Iterable<Structure> {
    for (const { structure } of this.users.values()) yield structure;
  }

  /** Hands over every element that service ports put into the table, with the one that holds it. */
  forEachElement(take: (element: PlacedElement, owner: ServicePortKey) => void): void {
    for (const [owner, parts] of this.rulesByOwner)
      for (const { key, elements } of parts)
        if (this.holder(key) === owner) for (const element of elements) take(element, owner);
  }

  conflictsOf(owner: ServicePortKey): readonly FrontendConflict[] {
    if (!this.claims.isContested) return [];
    return (this.rules(owner) ?? []).flatMap(({ key, frontend }) =>
      frontend === undefined ? [] : this.claims.conflicts(key, frontend),
    );
  }

  private claim(owner: ServicePortKey, part: Part, change: TableChange | undefined): void {
    const { before, after } = this.claims.claim(part.key, owner, part.frontend !== undefined);
    if (before[0] === after[0]) return;
    this.switchHolder(this.held(part.key, before[0]), { owner, part }, change);
  }

  private release(owner: ServicePortKey, part: Part, change: TableChange | undefined): void {
    const { before, after } = this.claims.release(part.key, owner);
    if (before[0] === after[0]) return;
    this.switchHolder({ owner, part }, this.held(part.key, after[0]), change);
  }

  private held(key: string, owner: ServicePortKey | undefined): HeldPart | undefined {
    const part = owner !== undefined && this.rules(owner)?.find((each) => each.key === key);
    return part ? { owner, part } : undefined;
  }

  private switchHolder(
    before: HeldPart | undefined,
    after: HeldPart | undefined,
    change: TableChange | undefined,
  ): void {
    for (const element of before?.part.elements ?? []) change?.remove(element.set, element, before!.owner);
    for (const element of after?.part.elements ?? []) change?.add(element.set, element, after!.owner);
    for (const structure of after?.part.uses ?? []) this.use(structure, change);
    for (const structure of before?.part.uses ?? []) this.abandon(structure, change);
  }

  private use(structure: Structure, change: TableChange | undefined): void {
    const user = this.users.get(structure.name);
    if (user) {
      user.count++;
      return;
    }
    this.users.set(structure.name, { structure, count: 1 });
    change?.structureCame(structure);
  }

  private abandon(structure: Structure, change: TableChange | undefined): void {
    const user = this.users.get(structure.name)!;
    if (--user.count > 0) return;
    this.users.delete(structure.name);
    change?.structureWent(structure);
  }
}
