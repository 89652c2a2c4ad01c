import { servicePortText } from '../../../domain/reconcile/rule-difference.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { NodeNetwork } from '../../../domain/forwarding/node-network.js';
import { iptablesBaseRules } from '../../../domain/iptables/base-rules.js';
import { isLargeCluster, type IptablesHost } from '../../../domain/iptables/options.js';
import { compileIptables } from '../../../domain/iptables/compile.js';
import { IptablesDesiredState, DesiredTables } from '../../../domain/iptables/desired-state.js';
import type { ServicePortKey } from '../../../domain/model/service-port-name.js';
import type { RuleText, TableName } from '../../../domain/iptables/table.js';
import { type ListedRules, WalkedRule } from './rule.js';
import { getOrMake } from '../../../domain/model/maps.js';

/**
 * What iptables mode would write for these entries.
 * @param isLarge whether rules are shortened, as in large clusters
 */
export function desiredIptables(
  entries: readonly ForwardingEntry[],
  node: NodeNetwork,
  host: IptablesHost,
  isLarge = isLargeCluster(entries),
): DesiredTables {
  const options = { node, host, largeCluster: isLarge };
  const desired = new IptablesDesiredState();
  for (const entry of entries) desired.replace(entry.key, compileIptables(entry, options));
  return new DesiredTables(desired, iptablesBaseRules(node, host));
}

/** The tables as they should be, and nothing of other programs. */
export function desiredRules(tables: DesiredTables): ListedRules {
  const { baseRules } = tables;
  const chains = new Map<string, Map<string, { readonly rules: WalkedRule[] }>>();
  const chainOf = (table: TableName, name: string): WalkedRule[] => {
    const its = getOrMake(chains, table, () => new Map<string, { readonly rules: WalkedRule[] }>());
    return getOrMake(its, name, () => ({ rules: [] })).rules;
  };
  const add = (table: TableName, name: string, rules: readonly RuleText[], owner?: ServicePortKey): void => {
    const chain = chainOf(table, name);
    const servicePort = owner && servicePortText(owner);
    for (const rule of rules) chain.push(new WalkedRule(table, name, rule, servicePort));
  };
  for (const { table, name, rules } of baseRules.chains) add(table, name, rules);
  // What other programs put there is not known.
  for (const { table, name } of baseRules.unmanagedChains) add(table, name, []);
  for (const table of new Set(baseRules.shared.map((chain) => chain.table)))
    for (const { name, entries, after } of tables.shared(table)) {
      for (const { entry, owner } of entries) add(table, name, [entry.rule], owner);
      add(table, name, after);
    }
  for (const { chain, owner } of tables.owned()) add(chain.table, chain.name, chain.rules, owner);
  for (const { table, chain, rule, place } of baseRules.jumps) {
    const walked = new WalkedRule(table, chain, rule);
    if (place === 'first') chainOf(table, chain).unshift(walked);
    else chainOf(table, chain).push(walked);
  }
  return {
    chain: (table, name) => chains.get(table)?.get(name),
    all: () => [...chains.values()].flatMap((its) => [...its.values()]),
  };
}
