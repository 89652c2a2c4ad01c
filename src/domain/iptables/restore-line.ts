import type { Chain, RuleText } from './table.js';

/** The line of a restore that makes the chain, or empties it. */
export function declareLine(chain: string): string {
  return `:${chain} - [0:0]`;
}

/** The line of a restore that appends the rule. */
export function appendLine(chain: string, rule: RuleText): string {
  return rule === '' ? `-A ${chain}` : `-A ${chain} ${rule}`;
}

/**
 * Names of chains in the order in which they are written best: the last by name goes first. iptables-legacy keeps chains in
 * order of their names, and looks from the start for the place of a new one; and it looks up the chain of each rule, which
 * is in the processor's cache when the rule before was near.
 */
export function inWritingOrder(names: Iterable<string>): readonly string[] {
  // Names are sorted by themselves: a comparison in JavaScript would take as long as all else about them.
  return [...names].sort().reverse();
}

/** The chains in the order in which they are written best; of several of one name the last. */
export function chainsInWritingOrder<C extends { readonly chain: Pick<Chain, 'name'> }>(
  chains: Iterable<C>,
): readonly C[] {
  const byName = new Map<string, C>();
  for (const each of chains) byName.set(each.chain.name, each);
  return inWritingOrder(byName.keys()).map((name) => byName.get(name)!);
}
