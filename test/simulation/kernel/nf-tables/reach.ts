import { Refusal } from '../netlink/attributes.js';
import { E } from '../netlink/numbers.js';
import type { Chain, Context, Table } from './objects.js';

const JUMP_STACK_SIZE = 16;

/** Where a chain leads to: by its rules, and by the elements of maps that they look into. */
function* targetsOf({ rules }: Chain): Generator<Chain> {
  for (const { expressions } of rules)
    for (const { target, set, binding } of expressions) {
      if (target) yield target;
      if (set && binding?.isMapped === true) yield* set.targets.keys();
    }
}

/** What the hooks of the table lead to is looked at, at the end of the transaction at the latest. */
export function lookLater(table: Table): void {
  if (table.validation === 'skip') table.validation = 'at the end';
}

/**
 * Looks at all that the hooks of a table lead to (nft_table_validate).
 * @throws Refusal for jumps that are too deep, as those in a circle are, and for expressions in the wrong place
 */
export function look(table: Table): void {
  for (const start of table.chains.values()) {
    const { base } = start;
    if (!base) continue;
    /** How deep a chain was met before. */
    const met = new Map<Chain, number>();
    const follow = (chain: Chain, depth: number): void => {
      if (depth === JUMP_STACK_SIZE) throw new Refusal(E.EMLINK);
      if ((met.get(chain) ?? -1) >= depth) return;
      met.set(chain, depth);
      for (const { expressions } of chain.rules)
        for (const { isAllowedIn } of expressions)
          if (isAllowedIn && !isAllowedIn(base)) throw new Refusal(E.EOPNOTSUPP);
      for (const next of targetsOf(chain)) follow(next, depth + 1);
    };
    follow(start, 0);
  }
}

/**
 * Looks for a circle where a chain gets a jump to another, which kernels before 6.11 do at once, whatever leads to it
 * (nf_tables_check_loops).
 * @throws Refusal (ELOOP)
 */
export function lookForCircle({ release }: Context, from: Chain, to: Chain): void {
  if (release >= 611) return;
  const met = new Set([to]);
  for (const chain of met) {
    if (chain === from) throw new Refusal(E.ELOOP);
    for (const next of targetsOf(chain)) met.add(next);
  }
}
