import { GenerationWatch } from '../../../src/adapters/nftables/generation-watch.js';
import { canonicalRule, type SavedTables } from '../../../src/domain/iptables/saved-tables.js';
import type { TableName } from '../../../src/domain/iptables/table.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import {
  RestoreRejectedError,
  type RestoreFailure,
  type IptablesCommands,
  type RestoreOutcome,
} from '../../../src/adapters/iptables/iptables-commands.js';
const BUILT_IN: Readonly<Record<TableName, readonly string[]>> = {
  mangle: ['PREROUTING', 'INPUT', 'FORWARD', 'OUTPUT', 'POSTROUTING'],
  filter: ['INPUT', 'FORWARD', 'OUTPUT'],
  nat: ['PREROUTING', 'INPUT', 'OUTPUT', 'POSTROUTING'],
};
const TARGETS = new Set(['ACCEPT', 'DROP', 'RETURN', 'REJECT', 'DNAT', 'REDIRECT', 'MASQUERADE', 'MARK']);
const TARGET = / ?-j (\S+)/;

type Table = Map<string, readonly string[]>;

/**
 * iptables in memory: what `iptables-save` and `iptables-restore --noflush` do with chains and rules, each commit as a
 * whole or not at all, refusals with their line. It stores rules as they are written and does not interpret them.
 */
export class MemoryIptables implements IptablesCommands {
  /** Lines of input since the start that are neither a table nor a COMMIT. */
  linesWritten = 0;
  restores = 0;
  saves = 0;
  /** The input of the last restore. */
  lastInput = '';
  /** How long restores report to have waited for the lock. */
  lockWaitSeconds = 0;
  /** The size of commits that it recommends. */
  chainLimit = Infinity;
  /** Names the line of a refused rule, as iptables-nft does; legacy names only the COMMIT. */
  namesLines = true;
  /** Matches that this kernel lacks; it reports them, but not their lines. */
  lacking: readonly string[] = [];
  private readonly tables = new Map<string, Table>();
  private refuses: (line: string) => string | undefined = () => undefined;
  private outage: Error | undefined;
  private generation = 1;
  private closed = false;

  /** From now on refuses lines for which there is a reason. */
  refuse(reason: (line: string) => string | undefined): void {
    this.refuses = reason;
  }

  /** Every call fails with this until it is undefined again. */
  fail(error: Error | undefined): void {
    this.outage = error;
  }

  /** Another program changes the tables: the same as `restore`, uncounted. */
  tamper(family: IpFamily, input: string): void {
    this.load(family, input.split('\n'));
  }

  chain(family: IpFamily, table: TableName, chain: string): readonly string[] | undefined {
    return this.table(family, table).get(chain);
  }

  /** The chains that are not the kernel's own, after their tables. */
  userChains(family: IpFamily): readonly string[] {
    return (Object.keys(BUILT_IN) as TableName[]).flatMap((table) =>
      [...this.table(family, table).keys()]
        .filter((chain) => !BUILT_IN[table].includes(chain))
        .map((chain) => `${table} ${chain}`),
    );
  }

  /** As with iptables-nft: commits that change something are numbered, also those of other programs. */
  watch(): GenerationWatch {
    return new GenerationWatch({ generation: () => Promise.resolve(this.generation) });
  }

  async chainsPerCommit(): Promise<number> {
    return Promise.resolve(this.chainLimit);
  }

  async save(family: IpFamily, signal?: AbortSignal): Promise<SavedTables> {
    this.check();
    signal?.throwIfAborted();
    this.saves++;
    return Promise.resolve(
      (Object.keys(BUILT_IN) as TableName[]).map((name) => ({
        name,
        chains: [...this.table(family, name)].map(([chain, rules]) => ({
          name: chain,
          policy: BUILT_IN[name].includes(chain) ? 'ACCEPT' : undefined,
          rules: rules.map((rule) => canonicalRule(rule, family)),
        })),
      })),
    );
  }

  async restore(family: IpFamily, input: Iterable<string>): Promise<RestoreOutcome> {
    this.check();
    this.restores++;
    this.lastInput = [...input].join('');
    const lines = this.lastInput.split('\n');
    this.linesWritten += lines.filter((line) => /^[:-]/.test(line)).length;
    const generations = this.load(family, lines);
    return Promise.resolve({ lockWaitSeconds: this.lockWaitSeconds, generations });
  }

  async listChain(family: IpFamily, table: TableName, chain: string): Promise<readonly string[] | undefined> {
    this.check();
    return Promise.resolve(this.chain(family, table, chain));
  }

  close(): void {
    this.closed = true;
  }

  /** Another process opens the same tables. */
  reopen(): void {
    this.closed = false;
  }

  private check(): void {
    if (this.closed) throw new Error('iptables in memory is closed');
    if (this.outage) throw this.outage;
  }

  private table(family: IpFamily, name: TableName): Table {
    const id = `${family} ${name}`;
    let table = this.tables.get(id);
    if (!table) this.tables.set(id, (table = new Map(BUILT_IN[name].map((chain) => [chain, []]))));
    return table;
  }

  /** Returns the numbers of the commits. */
  private load(family: IpFamily, lines: readonly string[]): readonly number[] {
    const generations: number[] = [];
    let changes = 0;
    let name: TableName | undefined;
    let table: Table = new Map();
    let refused: RestoreFailure | undefined;
    const lacking = new Set<string>();
    lines.forEach((text, index) => {
      const line = index + 1;
      if (text === '' || text.startsWith('#')) return;
      if (text.startsWith('*')) {
        name = text.slice(1) as TableName;
        table = new Map(this.table(family, name));
        changes = 0;
      } else if (text === 'COMMIT') {
        const fault = refused ?? brokenReference(table, line);
        if (fault)
          throw new RestoreRejectedError(
            'restore',
            [this.namesLines ? fault : { ...fault, line }],
            [...lacking],
          );
        this.tables.set(`${family} ${name!}`, table);
        if (changes > 0) generations.push(++this.generation);
      } else {
        if (!isEmptied(table, text)) changes++;
        const unknown = this.lacking.find((match) => text.includes(`-m ${match} `));
        if (unknown !== undefined) lacking.add(unknown);
        const reason = unknown === undefined ? (this.refuses(text) ?? change(table, text)) : 'failed';
        if (reason !== undefined) refused ??= { line, reason };
      }
    });
    return generations;
  }
}

/** Whether a line empties a chain that is empty. */
function isEmptied(table: Table, text: string): boolean {
  return text.startsWith(':') && table.get(text.slice(1).split(' ')[0]!)?.length === 0;
}

/** Applies a line; returns the reason if it cannot. */
function change(table: Table, text: string): string | undefined {
  if (text.startsWith(':')) {
    table.set(text.slice(1).split(' ')[0]!, []);
    return undefined;
  }
  const [, operation, chain = '', rule = ''] = /^(-[AIDX]) (\S+)(?: (.*))?$/.exec(text) ?? [];
  const rules = table.get(chain);
  if (!rules || operation === undefined) return 'No chain/target/match by that name.';
  switch (operation) {
    case '-A':
      table.set(chain, [...rules, rule]);
      return undefined;
    case '-I': {
      const [, number = '1', inserted = ''] = /^(?:(\d+) )?(.*)$/.exec(rule)!;
      if (Number(number) > rules.length + 1) return 'Index of insertion too big.';
      table.set(chain, rules.toSpliced(Number(number) - 1, 0, inserted));
      return undefined;
    }
    case '-D': {
      const index = rules.indexOf(rule);
      if (index < 0) return 'Bad rule (does a matching rule exist in that chain?).';
      table.set(chain, rules.toSpliced(index, 1));
      return undefined;
    }
    default:
      if (rules.length > 0) return 'CHAIN_DEL failed: Directory not empty';
      table.delete(chain);
      return undefined;
  }
}

/** A rule that leads to a chain that is not there; the kernel finds it when all lines are done. */
function brokenReference(table: Table, line: number): RestoreFailure | undefined {
  for (const [chain, rules] of table) {
    for (const rule of rules) {
      const target = TARGET.exec(rule)?.[1];
      if (target === undefined || TARGETS.has(target) || table.has(target)) continue;
      return { line, reason: `Device or resource busy, or no chain ${target} for a rule in ${chain}` };
    }
  }
  return undefined;
}
