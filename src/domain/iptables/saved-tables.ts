/** Tables as iptables-save prints them: their form, their parser, and the canonical form of a rule. */

import { NamedError } from '../model/named-error.js';
import { addressBits } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';
import { quoted } from './rule-text.js';
import type { RuleText } from './table.js';

/** The contents of a family's tables, as iptables-save lists them. */
export type SavedTables = readonly SavedTable[];

interface SavedTable {
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

  /** The tool's message when it cannot show a table of another program. */
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
   * The parsed tables; truncated output does not end in COMMIT.
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

/** Signs of a text that is not canonical yet. Most are, so that one test is all they cost. */
const SUSPECT =
  / {2}|^ | $|--comment [^"]|--comment "[-\w]+"|\\|-[sd] [^/ ]+(?: |$)|0x0[0-9a-f]|0x[0-9a-f]*[A-F]/;
const WORD = /"((?:[^"\\]|\\.)*)"|(\S+)/g;
const HEXADECIMAL = /0x([0-9a-f]+)/gi;

/**
 * A rule in the one form in which equal rules have equal texts: iptables 1.8's. Blanks are single, comments quoted only
 * where they must be, addresses have their length, marks no leading zeros. Order is kept: it is the tool's own.
 */
export function canonicalRule(text: string, family: IpFamily): RuleText {
  if (!SUSPECT.test(text)) return text;
  const words: string[] = [];
  let previous = '';
  for (const [, inQuotes, bare] of text.matchAll(WORD)) {
    const word = inQuotes === undefined ? bare! : inQuotes.replace(/\\(.)/g, '$1');
    words.push(canonicalWord(word, previous, inQuotes !== undefined, family));
    previous = inQuotes === undefined ? word : '';
  }
  return words.join(' ');
}

function canonicalWord(word: string, option: string, wasQuoted: boolean, family: IpFamily): string {
  switch (option) {
    case '--comment':
      return quoted(word);
    case '-s':
    case '-d':
      return word.includes('/') ? word : `${word}/${addressBits(family)}`;
    case '--mark':
    case '--set-xmark':
      return word.replace(HEXADECIMAL, (_, digits: string) => `0x${BigInt(`0x${digits}`).toString(16)}`);
    default:
      return wasQuoted ? quoted(word) : word;
  }
}
