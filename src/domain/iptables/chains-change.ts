import isEqual from 'fast-deep-equal';
import type { Chain, ChainsChange } from './table.js';

/** What becomes of the chains of one service port: compared by what they are made of if all tell it, else by their names and rules. */
export function chainsChange(before: readonly Chain[], after: readonly Chain[]): ChainsChange {
  const tell = ([first]: readonly Chain[]) => !first || first.id !== undefined;
  const allTell = tell(before) && tell(after);
  const idOf = (chain: Chain) => (allTell ? chain.id! : chain.name);
  const isSame = (one: Chain, other: Chain) =>
    allTell ? one.origin === other.origin : isEqual(one.rules, other.rules);
  const former = new Map(before.map((chain) => [idOf(chain), chain]));
  const written: Chain[] = [];
  for (const chain of after) {
    const id = idOf(chain);
    const present = former.get(id);
    former.delete(id);
    if (!present || !isSame(present, chain)) written.push(chain);
  }
  return { written, removed: [...former.values()] };
}
