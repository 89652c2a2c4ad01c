import type { IptablesDesiredState } from '../../../domain/iptables/state/desired-state.js';
import type { BaseRules, TableName } from '../../../domain/iptables/table.js';
import type { RestoreText } from './restore-script.js';

/** The rules of one table: all of ours, and those that the present sync put there. */
export interface TalliedRules {
  readonly table: TableName;
  readonly owned: number;
  readonly written: number;
}

/** The tables of which kube-proxy counts rules. */
const TALLIED: readonly TableName[] = ['filter', 'nat'];

/** Counts the rules that are ours, and those that were written. Jumps in built-in chains do not count, as with kube-proxy. */
export class RuleTally {
  private readonly written = new Map<TableName, number>();

  /** What is written from now on belongs to another sync. */
  begin(): void {
    this.written.clear();
  }

  applied(text: RestoreText): void {
    for (const table of TALLIED) this.written.set(table, (this.written.get(table) ?? 0) + text.rules(table));
  }

  tables(desired: IptablesDesiredState, baseRules: BaseRules): readonly TalliedRules[] {
    return TALLIED.map((table) => ({
      table,
      owned: desired.ruleCount(table) + rulesOf(baseRules, table),
      written: this.written.get(table) ?? 0,
    }));
  }
}

function rulesOf({ chains, shared }: BaseRules, table: TableName): number {
  let total = 0;
  for (const chain of chains) if (chain.table === table) total += chain.rules.length;
  for (const chain of shared) if (chain.table === table) total += chain.before.length + chain.after.length;
  return total;
}
