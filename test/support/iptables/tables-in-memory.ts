import type { IptablesChange, BaseRulesChange } from '../../../src/domain/iptables/iptables-change.js';
import {
  holds,
  sharedHolds,
  type DesiredTables,
  type DesiredSharedChain,
} from '../../../src/domain/iptables/desired-state.js';
import type { Chain, RuleText, TableName } from '../../../src/domain/iptables/table.js';

const TABLES: readonly TableName[] = ['mangle', 'filter', 'nat'];

/** Chains of the service ports, those that they share, and those of the node. */
export function allChains(desired: DesiredTables): readonly Chain[] {
  const owned = [...desired.owned()].map(({ chain }) => chain);
  return [...owned, ...TABLES.flatMap((table) => desired.shared(table)), ...desired.baseRules.chains];
}

/** A shared chain of the desired tables; it is there whatever services there are. */
export function sharedChain(desired: DesiredTables, table: TableName, name: string): DesiredSharedChain {
  return desired.shared(table).find((chain) => chain.name === name)!;
}

/** Whether a chain of the desired tables holds what it should. */
export function isHeld(chain: Chain | DesiredSharedChain, actual: readonly RuleText[]): boolean {
  return 'entries' in chain ? sharedHolds(chain, actual) : holds(chain, actual);
}

/** Tables that refuse what the kernel rejects. */
export class TablesInMemory {
  readonly chains = new Map<string, RuleText[]>();

  constructor(desired: DesiredTables) {
    for (const { table, name, rules } of allChains(desired)) this.chains.set(`${table} ${name}`, [...rules]);
  }

  apply(delta: IptablesChange): void {
    for (const { entry } of delta.entriesRemoved) this.delete(entry.table, entry.chain, entry.rule);
    const { written, removed } = delta.chains();
    for (const { chain } of written) this.chains.set(`${chain.table} ${chain.name}`, [...chain.rules]);
    for (const { entry } of [...delta.entriesAdded].reverse())
      this.rules(entry.table, entry.chain).unshift(entry.rule);
    for (const { chain } of removed) {
      this.rules(chain.table, chain.name);
      this.chains.delete(`${chain.table} ${chain.name}`);
    }
    this.expectTargets();
  }

  applyBaseRules({ chains, tails }: BaseRulesChange): void {
    for (const { table, name, rules } of chains) this.chains.set(`${table} ${name}`, [...rules]);
    for (const { chain, removed, added } of tails) {
      for (const rule of removed) this.delete(chain.table, chain.name, rule);
      this.rules(chain.table, chain.name).push(...added);
    }
  }

  private rules(table: TableName, chain: string): RuleText[] {
    const rules = this.chains.get(`${table} ${chain}`);
    if (!rules) throw new Error(`no chain ${chain} in ${table}`);
    return rules;
  }

  private delete(table: TableName, chain: string, rule: RuleText): void {
    const rules = this.rules(table, chain);
    const position = rules.indexOf(rule);
    if (position < 0) throw new Error(`no rule ${rule} in ${chain}`);
    rules.splice(position, 1);
  }

  private expectTargets(): void {
    for (const [chain, rules] of this.chains) {
      for (const rule of rules) {
        const target = / -j (KUBE-\S+)|^-j (KUBE-\S+)/.exec(rule);
        const name = target?.[1] ?? target?.[2];
        if (name !== undefined && !this.chains.has(`${chain.split(' ')[0]} ${name}`))
          throw new Error(`${chain} jumps to ${name}, which is not there`);
      }
    }
  }
}
