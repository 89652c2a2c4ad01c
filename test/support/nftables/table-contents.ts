import type { ChainRules } from '../../../src/domain/nftables/layout/node-rules.js';
import type { SetDefinition, SetElement } from '../../../src/domain/nftables/layout/table.js';
import type { DesiredTable } from '../../../src/domain/nftables/state/desired-table.js';

/** A table indexed by name, as needed to walk a packet through it. */
export interface TableContents {
  /** The names of its counters. */
  readonly counters: ReadonlySet<string>;
  readonly chains: ReadonlyMap<string, ChainRules>;
  readonly sets: ReadonlyMap<string, SetContents>;
}

export interface SetContents {
  readonly set: SetDefinition;
  /** By key. */
  readonly elements: ReadonlyMap<string, SetElement>;
}

/** The contents of a desired table. */
export function contentsOf({ chains, counters, sets }: DesiredTable): TableContents {
  return {
    counters: new Set(counters),
    chains: new Map(chains.map((chain) => [chain.chain.name, chain])),
    sets: new Map(
      sets.map(({ set, elements }) => [
        set.name,
        { set, elements: new Map(elements.map((element) => [element.key, element])) },
      ]),
    ),
  };
}
