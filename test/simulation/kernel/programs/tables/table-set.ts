import type { SavedTables } from '../../../../../src/domain/iptables/saved-tables.js';
import type { IpFamily } from '../../../../../src/domain/net/ip-family.js';
import { TableDraft } from './table-draft.js';
import { BUILT_IN, emptyTable, printedChains, type Table } from './table.js';

export type Variant = 'nft' | 'legacy';

/** Who runs: its number and its name, as the kernel cuts it. */
export interface ProcessIdentity {
  readonly pid: number;
  readonly name: string;
}

/** What a commit has done to a table. */
export interface TableCommit {
  readonly process: ProcessIdentity;
  readonly variant: Variant;
  readonly family: IpFamily;
  readonly before: Table;
  readonly after: Table;
  /** The chains that are not what they were, those that are gone among them. */
  readonly changed: readonly string[];
}

/** The tables of one family, of iptables-legacy or of iptables-nft. Commits replace a table as a whole. */
export class TableSet {
  /** Another one as soon as any table is another one. */
  version = 0;
  private readonly tables = new Map<string, Table>();
  private printed: SavedTables | undefined;
  private effective: string | undefined;

  /** @param committed told of each commit that has changed something */
  constructor(
    readonly family: IpFamily,
    readonly variant: Variant,
    private readonly committed: (commit: TableCommit, effects: number) => void,
  ) {}

  /** In the order in which the tools print them: legacy begins with what was used first last. */
  get names(): readonly string[] {
    const names = [...this.tables.keys()];
    if (this.variant === 'legacy') return names.reverse();
    return Object.keys(BUILT_IN).filter((name) => this.tables.has(name));
  }

  table(name: string): Table | undefined {
    return this.tables.get(name);
  }

  /** All tables as iptables-save prints them. The same objects, where nothing has changed. */
  get saved(): SavedTables {
    this.printed ??= this.names.map((name) => ({ name, chains: printedChains(this.tables.get(name)!) }));
    return this.printed;
  }

  /** The built-in chains in which something may happen to a packet, as ` nat/PREROUTING`. Empty: packets pass as if there were no tables. */
  get chainsWithEffect(): string {
    if (this.effective === undefined) {
      this.effective = '';
      for (const { name, chains } of this.tables.values())
        for (const builtIn of BUILT_IN[name]!) {
          const chain = chains.get(builtIn);
          if (chain && (chain.rules.length > 0 || chain.policy !== 'ACCEPT'))
            this.effective += ` ${name}/${builtIn}`;
        }
    }
    return this.effective;
  }

  /** What a program is about to make of a table. iptables-legacy makes a table by asking for it. */
  draft(name: string): TableDraft {
    let table = this.tables.get(name);
    if (!table) {
      table = emptyTable(name, this.variant === 'legacy' ? BUILT_IN[name]! : []);
      if (this.variant === 'legacy') this.put(table);
    }
    return new TableDraft(table, this.variant === 'nft');
  }

  commit(draft: TableDraft, process: ProcessIdentity): void {
    if (this.variant === 'nft' && draft.effects === 0) return;
    const { table, changed } = draft.finish();
    const { family, variant } = this;
    this.put(table);
    this.committed({ process, variant, family, before: draft.before, after: table, changed }, draft.effects);
  }

  /** Removes all tables, as `nft flush ruleset` does with those of iptables-nft. */
  clear(process: ProcessIdentity): void {
    for (const before of [...this.tables.values()]) {
      const after = emptyTable(before.name, this.variant === 'legacy' ? BUILT_IN[before.name]! : []);
      if (this.variant === 'legacy') this.put(after);
      else this.tables.delete(before.name);
      this.changed();
      const { family, variant } = this;
      const changed = [...before.chains.keys()];
      this.committed({ process, variant, family, before, after, changed }, 1);
    }
  }

  private put(table: Table): void {
    this.tables.set(table.name, table);
    this.changed();
  }

  private changed(): void {
    this.version++;
    this.printed = undefined;
    this.effective = undefined;
  }
}
