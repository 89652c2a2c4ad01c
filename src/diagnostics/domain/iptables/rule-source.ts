import type { Chain } from '../walk/turn.js';
import type { TablesCourse } from './course.js';
import type { WalkedRule } from './rule.js';

/** A chain to walk through. */
export interface WalkedChain extends Chain<WalkedRule> {
  /** A built-in chain drops what no rule decides about. */
  readonly drops?: true;
  /** The same chain without rules that do not concern the packet as it is now. Missing: there are few rules. */
  narrowed?(course: TablesCourse): Chain<WalkedRule>;
}

/** The tables of one family: those that the kernel has, or that should be there. */
export interface RuleSource {
  /** Undefined when there is no such chain. */
  chain(table: string, name: string): WalkedChain | undefined;
}

/** Tables all of whose chains can be looked through. */
export interface ListedRules extends RuleSource {
  all(): Iterable<WalkedChain>;
}
