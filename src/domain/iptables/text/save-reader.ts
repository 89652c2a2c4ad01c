import type { IpFamily } from '../../net/ip-family.js';
import { canonicalRule } from './canonical-rule.js';
import type { SavedChain, SavedTable, SavedTables } from './saved-tables.js';
import type { RuleText } from '../table.js';
import { NamedError } from '../../model/named-error.js';

/** A line that iptables-save never writes. */
export class SaveSyntaxError extends NamedError {
  constructor(
    /** Counted from 1. */
    readonly line: number,
    text: string,
    expected: string,
  ) {
    super(
      `line ${line} of the iptables-save output, ${JSON.stringify(text.slice(0, 200))}: expected ${expected}`,
    );
  }
}

const CHAIN = /^:(\S+) (\S+)(?: \[\d+:\d+\])?$/;
const RULE = /^(?:\[\d+:\d+\] )?-A (\S+)(?: (.*))?$/;
const INCOMPATIBLE = / is incompatible/;

interface OpenChain extends SavedChain {
  rules: readonly RuleText[];
}

/**
 * Reads what iptables-save prints, of iptables-nft or iptables-legacy, piece by piece: rules become canonical; counters and
 * comment lines are ignored.
 */
export class SaveReader {
  private readonly tables: SavedTable[] = [];
  private chains: Map<string, OpenChain> | undefined;
  private opened = '';
  /** The chain whose rules are being read, since those of a chain stand together. */
  private filled: OpenChain | undefined;
  private rules: RuleText[] = [];
  private line = 0;
  private rest = '';
  private complaint: string | undefined;

  constructor(private readonly family: IpFamily) {}

  /** What the tool says when it cannot show a table that another program made. */
  get incompatible(): string | undefined {
    return this.complaint;
  }

  /** @throws SaveSyntaxError */
  read(piece: string): void {
    const text = this.rest + piece;
    let start = 0;
    for (let feed = text.indexOf('\n'); feed >= 0; feed = text.indexOf('\n', start)) {
      this.readLine(text.slice(start, feed));
      start = feed + 1;
    }
    this.rest = text.slice(start);
  }

  /**
   * What was read; output that was cut off does not end in COMMIT.
   * @throws SaveSyntaxError
   */
  finish(): SavedTables {
    if (this.rest !== '') this.readLine(this.rest);
    if (this.chains) throw new SaveSyntaxError(this.line + 1, '', `COMMIT of table ${this.opened}`);
    return this.tables;
  }

  private readLine(text: string): void {
    this.line++;
    switch (text[0]) {
      case undefined:
        return;
      case '#':
        if (INCOMPATIBLE.test(text)) this.complaint ??= text.slice(2);
        return;
      case '*':
        this.opened = text.slice(1).trim();
        this.chains = new Map();
        return;
      case ':':
        return this.readChain(text);
      case 'C':
        if (text.trim() === 'COMMIT') return this.commit(text);
        break;
      case '-':
      case '[':
        return this.readRule(text);
    }
    throw new SaveSyntaxError(this.line, text, 'a table, a chain, a rule or COMMIT');
  }

  private readChain(text: string): void {
    const [, name, policy] = CHAIN.exec(text.trimEnd()) ?? [];
    if (name === undefined || !this.chains)
      throw new SaveSyntaxError(this.line, text, 'a chain within a table');
    this.chains.set(name, { name, policy: policy === '-' ? undefined : policy, rules: NO_RULES });
  }

  private readRule(text: string): void {
    const [, name, rule = ''] = RULE.exec(text) ?? [];
    if (name !== this.filled?.name) {
      this.fill();
      this.filled = this.chains?.get(name ?? '');
    }
    if (!this.filled) throw new SaveSyntaxError(this.line, text, 'a rule in a chain named before');
    this.rules.push(canonicalRule(rule, this.family));
  }

  /** Gives the chain its rules, in an array that is no longer than they are: there are very many. */
  private fill(): void {
    const { filled, rules } = this;
    if (filled) filled.rules = filled.rules.length === 0 ? rules.slice() : filled.rules.concat(rules);
    this.filled = undefined;
    this.rules = [];
  }

  private commit(text: string): void {
    this.fill();
    if (!this.chains) throw new SaveSyntaxError(this.line, text, 'a table before COMMIT');
    this.tables.push({ name: this.opened, chains: [...this.chains.values()] });
    this.chains = undefined;
  }
}

const NO_RULES: readonly RuleText[] = [];
