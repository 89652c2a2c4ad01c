/** Elements of service ports, and changes of them. */

import { getOrMake } from '../../model/maps.js';
import type { ServicePortKey } from '../../model/service-port-name.js';
import type { Part } from '../../reconcile/owned-parts.js';
import { LED_TO, RESTRICTED_FRONTENDS, SOURCES_SETS } from '../layout/sets.js';
import type { Structure } from '../layout/structure.js';
import type { SetDefinition, SetElement } from '../layout/table.js';

/** An element and its set or map. */
export interface PlacedElement extends SetElement {
  readonly set: SetDefinition;
}

/**
 * All elements of one frontend, or what service ports share: one element, or the slots of a table. Its key is the frontend's, or that of
 * what is shared.
 */
export interface TablePart extends Part {
  readonly elements: readonly PlacedElement[];
  /** Those by which a later process recognizes the part: its elements of sets that are listed to read them. */
  readonly listed: readonly PlacedElement[];
  /** The set of the element, or the slots, that service ports share; undefined for a frontend. */
  readonly shared?: SetDefinition | undefined;
  readonly uses: readonly Structure[];
  /** With session affinity: the ids of the endpoints that clients may stick to. */
  readonly ids?: readonly string[] | undefined;
  /** The steps from the elements of the previous part of this key to these, if fewer than replacing all. */
  changesFrom?(former: TablePart): ElementChanges | undefined;
  /** Some elements are of maps that kube-proxy left, and lead to its chains. */
  readonly isKubeProxys?: boolean;
}

export interface ElementChanges {
  readonly removed: readonly PlacedElement[];
  readonly added: readonly PlacedElement[];
}

/** The rules of one service port: all its elements in the table. */
export type NftablesServicePortRules = readonly TablePart[];

/** An unknown digest equals any other. */
export function sameElement(one: SetElement, other: SetElement): boolean {
  return (
    one.key === other.key &&
    one.value === other.value &&
    one.comment === other.comment &&
    one.hasMore === other.hasMore &&
    (one.digest === other.digest || one.digest === undefined || other.digest === undefined)
  );
}

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

/** The effect of a batch of changes on one set. */
interface SetChange {
  readonly set: SetDefinition;
  readonly removed: OwnedElements;
  readonly added: OwnedElements;
  /** Removed for good, from a set to which others lead: deleted once nothing leads to them. */
  readonly unused: OwnedElements;
}

const SOURCES: ReadonlySet<SetDefinition> = new Set(SOURCES_SETS);

/** The frontend of an element of a set of sources, which has the client behind it. */
function frontendOfSource(key: string): string {
  return key.slice(0, key.lastIndexOf(' . '));
}

/** The combined effect of a batch of replacements on the table: elements added and removed again cancel out. */
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
        if (before) place(!after && this.isLedTo(set, before) ? unused : removed, before, owner);
        if (after) place(added, after, owner);
      }
      yield { set, removed, added, unused };
    }
  }

  /**
   * Whether packets that are being processed may still be led to an element that goes. To a source they are only if its frontend is
   * restricted no more: while it is, the sources of its present Service alone count.
   */
  private isLedTo(set: SetDefinition, { key }: SetElement): boolean {
    if (LED_TO.has(set)) return true;
    if (!SOURCES.has(set)) return false;
    const restricted = this.changes.get(RESTRICTED_FRONTENDS)?.get(frontendOfSource(key));
    return restricted !== undefined && !restricted.after;
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
