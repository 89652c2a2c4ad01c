import { E } from '../../netlink/numbers.js';
import { Refusal } from '../../netlink/attributes.js';
import type { Context } from '../context.js';
import { JUMP_STACK_SIZE } from '../numbers.js';
import type { BaseChain, Chain, Expression, Table } from '../objects.js';

/** Whether an expression may be wrong for where it can be reached from. */
export function mustBeLookedAt({ target, set, isAllowedIn }: Expression): boolean {
  return target !== undefined || isAllowedIn !== undefined || set !== undefined;
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
  for (const chain of table.chains.values()) if (chain.base) new Reach(chain.base).follow(chain, 0);
}

class Reach {
  /** How deep a chain was met before. */
  private readonly met = new Map<Chain, number>();

  constructor(private readonly base: BaseChain) {}

  follow(chain: Chain, depth: number): void {
    if (depth === JUMP_STACK_SIZE) throw new Refusal(E.EMLINK);
    if ((this.met.get(chain) ?? -1) >= depth) return;
    this.met.set(chain, depth);
    for (const { expressions } of chain.rules)
      for (const { target, set, binding, isAllowedIn } of expressions) {
        if (isAllowedIn && !isAllowedIn(this.base)) throw new Refusal(E.EOPNOTSUPP);
        if (target) this.follow(target, depth + 1);
        if (set && binding?.isMapped === true)
          for (const next of set.targets.keys()) this.follow(next, depth + 1);
      }
  }
}

/**
 * Looks for a circle where a chain gets a jump to another, which kernels before 6.11 do at once, whatever leads to it
 * (nf_tables_check_loops).
 * @throws Refusal (E.ELOOP)
 */
export function lookForCircle({ release }: Context, from: Chain, to: Chain): void {
  if (release >= 611) return;
  const met = new Set<Chain>();
  const follow = (chain: Chain): void => {
    if (chain === from) throw new Refusal(E.ELOOP);
    if (met.has(chain)) return;
    met.add(chain);
    for (const { expressions } of chain.rules)
      for (const { target, set, binding } of expressions) {
        if (target) follow(target);
        if (set && binding?.isMapped === true) for (const next of set.targets.keys()) follow(next);
      }
  };
  follow(to);
}
