import type { ServicePortKey } from '../../model/service-port-name.js';
import type { IptablesDesiredState } from '../state/desired-state.js';
import { DesiredTables } from '../state/desired-tables.js';
import { OWNED_TABLE, type BaseRules, type RuleText, type TableName } from '../table.js';
import type { RuleSource, WalkedChain } from './rule-source.js';
import { WalkedRule } from './rule.js';

/**
 * The tables as they should be, and nothing of other programs. The chains of a service port are made when a packet comes to
 * one of them.
 */
export class DesiredRules implements RuleSource {
  private readonly shared = new Map<string, WalkedChain>();
  private readonly owned = new Map<ServicePortKey, ReadonlyMap<string, WalkedChain>>();

  constructor(
    private readonly desired: IptablesDesiredState,
    baseRules: BaseRules,
  ) {
    const tables = new DesiredTables(desired, baseRules);
    const names = [...new Set(baseRules.shared.map(({ table }) => table))];
    for (const { table, name, rules } of baseRules.chains) this.add(table, name, rules);
    // What other programs put there is not known.
    for (const { table, name } of baseRules.unmanagedChains) this.add(table, name, []);
    for (const { table, name, before, entries, after } of names.flatMap((table) => tables.shared(table)))
      this.shared.set(`${table} ${name}`, {
        rules: [
          ...walkedRules(table, name, before),
          ...entries.map(({ entry, owner }) => new WalkedRule(table, name, entry.rule, owner)),
          ...walkedRules(table, name, after),
        ],
      });
    this.addJumps(baseRules);
  }

  chain(table: string, name: string, from?: ServicePortKey): WalkedChain | undefined {
    const shared = this.shared.get(`${table} ${name}`);
    if (shared || table !== OWNED_TABLE || from === undefined) return shared;
    return this.ownedBy(from).get(name);
  }

  private addJumps({ jumps }: BaseRules): void {
    const rules = new Map<string, { table: TableName; name: string; rules: RuleText[] }>();
    for (const { table, chain: name, rule, place } of jumps) {
      const key = `${table} ${name}`;
      const chain = rules.get(key) ?? { table, name, rules: [] };
      rules.set(key, chain);
      if (place === 'first') chain.rules.unshift(rule);
      else chain.rules.push(rule);
    }
    for (const { table, name, rules: texts } of rules.values()) this.add(table, name, texts);
  }

  private add(table: TableName, name: string, rules: readonly RuleText[]): void {
    this.shared.set(`${table} ${name}`, { rules: walkedRules(table, name, rules) });
  }

  private ownedBy(owner: ServicePortKey): ReadonlyMap<string, WalkedChain> {
    const present = this.owned.get(owner);
    if (present) return present;
    const chains = this.desired.rules(owner)?.chains ?? [];
    const made = new Map(
      chains.map(({ name, rules }) => [name, { rules: walkedRules(OWNED_TABLE, name, rules, owner) }]),
    );
    this.owned.set(owner, made);
    return made;
  }
}

function walkedRules(
  table: TableName,
  chain: string,
  rules: readonly RuleText[],
  owner?: ServicePortKey,
): readonly WalkedRule[] {
  return rules.map((rule) => new WalkedRule(table, chain, rule, owner));
}
