import type { ServicePortKey } from '../../model/service-port-name.js';
import { sameElement } from './service-port-rules.js';
import { LED_TO } from '../layout/sets.js';
import type { Structure } from '../layout/structure.js';
import type { SetDefinition, SetElement } from '../layout/table.js';
import { getOrMake } from '../../model/get-or-make.js';

interface ElementChange {
  before: SetElement | undefined;
  after: SetElement | undefined;
  owner: ServicePortKey;
}

/** Elements, with the service port of each. */
export interface OwnedElements {
  readonly elements: readonly SetElement[];
  readonly owners: readonly ServicePortKey[];
}

interface GrowingElements extends OwnedElements {
  readonly elements: SetElement[];
  readonly owners: ServicePortKey[];
}

/** What a batch of changes does to one set. */
export interface SetChange {
  readonly set: SetDefinition;
  readonly removed: OwnedElements;
  readonly added: OwnedElements;
  /** Removed for good, from a set to which others lead: deleted once nothing leads to them. */
  readonly unused: OwnedElements;
}

/** What a batch of replacements does to the table, combined: what is added and removed again leaves no trace. */
export class TableChange {
  private readonly changes = new Map<SetDefinition, Map<string, ElementChange>>();
  private readonly came = new Map<string, Structure>();
  private readonly went = new Map<string, Structure>();

  add(set: SetDefinition, element: SetElement, owner: ServicePortKey): void {
    const changes = this.changesOf(set);
    const change = changes.get(element.key);
    if (change) {
      change.after = element;
      change.owner = owner;
    } else {
      changes.set(element.key, { before: undefined, after: element, owner });
    }
  }

  remove(set: SetDefinition, element: SetElement, owner: ServicePortKey): void {
    const changes = this.changesOf(set);
    const change = changes.get(element.key);
    if (change) change.after = undefined;
    else changes.set(element.key, { before: element, after: undefined, owner });
  }

  structureCame(structure: Structure): void {
    if (!this.went.delete(structure.name)) this.came.set(structure.name, structure);
  }

  structureWent(structure: Structure): void {
    if (!this.came.delete(structure.name)) this.went.set(structure.name, structure);
  }

  get newStructures(): readonly Structure[] {
    return [...this.came.values()];
  }

  get unusedStructures(): readonly Structure[] {
    return [...this.went.values()];
  }

  /** The affected sets, each with its actual differences. */
  *sets(): Iterable<SetChange> {
    for (const [set, changes] of this.changes) {
      const [removed, added, unused] = [none(), none(), none()];
      for (const { before, after, owner } of changes.values()) {
        if (before && after && sameElement(before, after)) continue;
        if (before) place(!after && LED_TO.has(set) ? unused : removed, before, owner);
        if (after) place(added, after, owner);
      }
      yield { set, removed, added, unused };
    }
  }

  private changesOf(set: SetDefinition): Map<string, ElementChange> {
    return getOrMake(this.changes, set, () => new Map<string, ElementChange>());
  }
}

function none(): GrowingElements {
  return { elements: [], owners: [] };
}

function place({ elements, owners }: GrowingElements, element: SetElement, owner: ServicePortKey): void {
  elements.push(element);
  owners.push(owner);
}
