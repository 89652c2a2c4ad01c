import { ruleText } from '../text/rule-parts.js';
import type { Jump, SharedChain, TableName } from '../table.js';

/** A rule in a built-in chain that leads on to another one. */
export function jump(
  table: TableName,
  chain: string,
  target: string,
  matches: readonly string[],
  place: Jump['place'] = 'first',
): Jump {
  return { table, chain, rule: ruleText({ matches, target }), place };
}

/** A chain that service ports share. @param after what stands at its end */
export function sharedChain(table: TableName, name: string, after: SharedChain['after'] = []): SharedChain {
  return { table, name, before: [], after };
}
