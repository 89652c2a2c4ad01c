import isEqual from 'fast-deep-equal';
import type { Chain, ChainsChange } from '../table.js';

/** How chains are compared. */
export interface ChainComparison<C extends Chain> {
  /** Tells the chains of one service port apart. */
  readonly id: (chain: C) => string;
  /** Whether two of one identity have the same rules. */
  readonly isSame: (one: C, other: C) => boolean;
  /** How many rules it has. */
  readonly size: (chain: C) => number;
}

const BY_RULES: ChainComparison<Chain> = {
  id: ({ name }) => name,
  isSame: (one, other) => isEqual(one.rules, other.rules),
  size: ({ rules }) => rules.length,
};

/** Compares chains by what they are called and their rules. */
export function chainsChange(before: readonly Chain[], after: readonly Chain[]): ChainsChange {
  return chainsChangeBy(BY_RULES, before, after);
}

export function chainsChangeBy<C extends Chain>(
  { id, isSame, size }: ChainComparison<C>,
  before: readonly C[],
  after: readonly C[],
): ChainsChange {
  const former = new Map(before.map((chain) => [id(chain), chain]));
  const written: Chain[] = [];
  let rulesGained = 0;
  for (const chain of after) {
    const present = former.get(id(chain));
    former.delete(id(chain));
    if (present && isSame(present, chain)) continue;
    // Made once here: a chain may make its rules each time it is asked for them.
    const { table, name, rules } = chain;
    written.push({ table, name, rules });
    rulesGained += rules.length - (present ? size(present) : 0);
  }
  const removed = [...former.values()].map(({ table, name }) => ({ table, name }));
  for (const chain of former.values()) rulesGained -= size(chain);
  return { written, removed, rulesGained };
}
