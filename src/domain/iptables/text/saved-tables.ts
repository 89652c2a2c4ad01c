import type { RuleText } from '../table.js';

/** The contents of a family's tables, as iptables-save lists them. */
export type SavedTables = readonly SavedTable[];

export interface SavedTable {
  readonly name: string;
  readonly chains: readonly SavedChain[];
}

export interface SavedChain {
  readonly name: string;
  /** `ACCEPT` or `DROP` for a built-in chain. */
  readonly policy: string | undefined;
  /** Canonical, in order. */
  readonly rules: readonly RuleText[];
}

/** The rules of a chain; undefined when there is none of that name. */
export function savedRules(
  tables: SavedTables,
  table: string,
  chain: string,
): readonly RuleText[] | undefined {
  return tables.find(({ name }) => name === table)?.chains.find(({ name }) => name === chain)?.rules;
}
