import isEqual from 'fast-deep-equal';
import type { Chain, ChainsChange } from './table.js';

/** How chains are compared. */
export interface ChainComparison<C extends Chain> {
  /** Tells the chains of one service port apart. */
  readonly id: (chain: C) => string;
  /** Whether two with the same id have the same rules. */
  readonly isSame: (one: C, other: C) => boolean;
}

const BY_RULES: ChainComparison<Chain> = {
  id: ({ name }) => name,
  isSame: (one, other) => isEqual(one.rules, other.rules),
};

/** Compares chains by their names and rules. */
export function chainsChange(before: readonly Chain[], after: readonly Chain[]): ChainsChange {
  return chainsChangeBy(BY_RULES, before, after);
}

export function chainsChangeBy<C extends Chain>(
  { id, isSame }: ChainComparison<C>,
  before: readonly C[],
  after: readonly C[],
): ChainsChange {
  const former = new Map(before.map((chain) => [id(chain), chain]));
  const written: Chain[] = [];
  for (const chain of after) {
    const present = former.get(id(chain));
    former.delete(id(chain));
    if (!present || !isSame(present, chain)) written.push(chain);
  }
  return { written, removed: [...former.values()] };
}
