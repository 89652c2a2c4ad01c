import type { Part } from '../../reconcile/held-parts.js';
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
  /** What turns the elements of a former part of this key into these, where that is less than all of both. */
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
