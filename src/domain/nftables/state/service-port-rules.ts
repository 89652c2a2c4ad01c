import type { Structure } from '../layout/structure.js';
import type { SetDefinition, SetElement } from '../layout/table.js';

/** An element and the set or map it stands in. */
export interface PlacedElement extends SetElement {
  readonly set: SetDefinition;
}

/**
 * A piece of a service port's rules that can have one holder only: all elements of one frontend, or one element that services
 * share. Where several service ports claim the same part, the first by key holds it (reconcile/claims.ts).
 */
export interface Part {
  readonly key: string;
  /** How people call it: `10.96.0.10:53/UDP`. Undefined for parts that are equal whoever holds them. */
  readonly frontend?: string;
  readonly elements: readonly PlacedElement[];
  readonly uses: readonly Structure[];
}

/** Everything that one service port puts into the table. */
export type NftablesServicePortRules = readonly Part[];

export function sameElements(one: Part, other: Part): boolean {
  return (
    one.elements.length === other.elements.length &&
    one.elements.every((placed, index) => {
      const its = other.elements[index]!;
      return placed.set === its.set && sameElement(placed, its);
    })
  );
}

export function sameElement(one: SetElement, other: SetElement): boolean {
  return one.key === other.key && one.value === other.value && one.comment === other.comment;
}
