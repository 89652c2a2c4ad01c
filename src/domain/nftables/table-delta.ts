import type { ServicePortKey } from '../model/service-port-name.js';
import { sameElement } from './fragment.js';
import type { Structure } from './structure.js';
import type { SetDefinition, SetElement } from './table.js';

interface ElementChange {
  before: SetElement | undefined;
  after: SetElement | undefined;
  owner: ServicePortKey;
}

/** Elements of one set that a transaction takes away and adds, with the service port behind each. */
export interface SetDelta {
  readonly set: SetDefinition;
  readonly removed: readonly SetElement[];
  readonly added: readonly SetElement[];
  readonly removedFor: readonly ServicePortKey[];
  readonly addedFor: readonly ServicePortKey[];
}

/** What a batch of fragment changes does to the table, folded together: what comes and goes again leaves no trace. */
export class TableDelta {
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

  get arrivals(): readonly Structure[] {
    return [...this.came.values()];
  }

  get departures(): readonly Structure[] {
    return [...this.went.values()];
  }

  /** Sets with changes, each with what really differs. */
  *sets(): Iterable<SetDelta> {
    for (const [set, changes] of this.changes) {
      const removed: SetElement[] = [];
      const added: SetElement[] = [];
      const removedFor: ServicePortKey[] = [];
      const addedFor: ServicePortKey[] = [];
      for (const { before, after, owner } of changes.values()) {
        if (before && after && sameElement(before, after)) continue;
        if (before) {
          removed.push(before);
          removedFor.push(owner);
        }
        if (after) {
          added.push(after);
          addedFor.push(owner);
        }
      }
      if (removed.length + added.length > 0) yield { set, removed, added, removedFor, addedFor };
    }
  }

  private changesOf(set: SetDefinition): Map<string, ElementChange> {
    const present = this.changes.get(set);
    if (present) return present;
    const changes = new Map<string, ElementChange>();
    this.changes.set(set, changes);
    return changes;
  }
}
