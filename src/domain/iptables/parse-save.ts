import type { IpFamily } from '../net/ip-family.js';
import { canonicalRule } from './canonical-rule.js';
import type { SavedChain, SavedTable, SavedTables } from './saved-tables.js';
import type { RuleText } from './table.js';

/** A line that iptables-save never writes. */
export class SaveSyntaxError extends Error {
  constructor(
    /** Counted from 1. */
    readonly line: number,
    text: string,
    expected: string,
  ) {
    super(
      `line ${line} of the iptables-save output, ${JSON.stringify(text.slice(0, 200))}: expected ${expected}`,
    );
    this.name = 'SaveSyntaxError';
  }
}

const CHAIN = /^:(\S+) (\S+)(?: \[\d+:\d+\])?$/;
const RULE = /^(?:\[\d+:\d+\] )?-A (\S+)(?: (.*))?$/;

/**
 * Reads what iptables-save printed, of iptables-nft or iptables-legacy: rules become canonical; counters and comment
 * lines are left out.
 * @throws SaveSyntaxError
 */
export function parseSave(text: string, family: IpFamily): SavedTables {
  const reader = new SaveReader(family);
  let start = 0;
  let line = 1;
  for (; start < text.length; line++) {
    const feed = text.indexOf('\n', start);
    const end = feed < 0 ? text.length : feed;
    if (end > start) reader.read(text.slice(start, end), line);
    start = end + 1;
  }
  return reader.finish(line);
}

interface OpenChain extends SavedChain {
  readonly rules: RuleText[];
}

class SaveReader {
  private readonly tables: SavedTable[] = [];
  private chains: Map<string, OpenChain> | undefined;
  private opened = '';

  constructor(private readonly family: IpFamily) {}

  read(text: string, line: number): void {
    switch (text[0]) {
      case '#':
        return;
      case '*':
        this.opened = text.slice(1).trim();
        this.chains = new Map();
        return;
      case ':':
        return this.chain(text, line);
      case 'C':
        if (text.trim() === 'COMMIT') return this.commit(text, line);
        break;
      case '-':
      case '[':
        return this.rule(text, line);
    }
    throw new SaveSyntaxError(line, text, 'a table, a chain, a rule or COMMIT');
  }

  /** What was read; output that was cut off does not end in COMMIT. */
  finish(line: number): SavedTables {
    if (this.chains) throw new SaveSyntaxError(line, '', `COMMIT of table ${this.opened}`);
    return this.tables;
  }

  private chain(text: string, line: number): void {
    const [, name, policy] = CHAIN.exec(text.trimEnd()) ?? [];
    if (name === undefined || !this.chains) throw new SaveSyntaxError(line, text, 'a chain within a table');
    this.chains.set(name, { name, policy: policy === '-' ? undefined : policy, rules: [] });
  }

  private rule(text: string, line: number): void {
    const [, name, rule = ''] = RULE.exec(text) ?? [];
    const chain = this.chains?.get(name ?? '');
    if (!chain) throw new SaveSyntaxError(line, text, 'a rule in a chain named before');
    chain.rules.push(canonicalRule(rule, this.family));
  }

  private commit(text: string, line: number): void {
    if (!this.chains) throw new SaveSyntaxError(line, text, 'a table before COMMIT');
    this.tables.push({ name: this.opened, chains: [...this.chains.values()] });
    this.chains = undefined;
  }
}
