/** Parses what `nft list ruleset` prints. */

import type {
  ListedChain,
  ListedRule,
  ListedSet,
  ListedTable,
  Listing,
  Value,
  Statement,
} from './listing.js';
import { NamedError } from '../../../domain/model/named-error.js';

const PRIORITIES: Readonly<Record<string, number>> = {
  raw: -300,
  mangle: -150,
  dstnat: -100,
  filter: 0,
  security: 50,
  srcnat: 100,
};

/** Reads what `nft list ruleset` or `nft list table` printed. @throws ListingSyntaxError */
export function parseListing(text: string): Listing {
  const tokens = new Tokens(text);
  const tables: ListedTable[] = [];
  for (tokens.skipLines(); !tokens.isAtEnd; tokens.skipLines()) {
    tokens.expect('table');
    const [family, name] = [tokens.take(), tokens.take()];
    tokens.expect('{');
    if (family === 'ip' || family === 'ip6' || family === 'inet') tables.push(table(tokens, family, name));
    else tokens.skipBlock();
  }
  return { tables };
}

function table(tokens: Tokens, family: ListedTable['family'], name: string): ListedTable {
  const chains: ListedChain[] = [];
  const sets: ListedSet[] = [];
  for (tokens.skipLines(); !tokens.takes('}'); tokens.skipLines()) {
    const kind = tokens.take();
    if (kind === 'comment' || kind === 'flags') {
      tokens.restOfLine();
      continue;
    }
    const its = tokens.take();
    tokens.expect('{');
    if (kind === 'chain') chains.push(chain(tokens, its));
    else if (kind === 'set' || kind === 'map') sets.push(set(tokens, its));
    else tokens.skipBlock();
  }
  return { family, name, chains, sets };
}

function chain(tokens: Tokens, name: string): ListedChain {
  const rules: ListedRule[] = [];
  let base = {};
  for (tokens.skipLines(); !tokens.takes('}'); tokens.skipLines()) {
    if (tokens.next === 'type') base = baseChain(tokens);
    else if (tokens.next === 'comment') tokens.restOfLine();
    else rules.push(parseStatements(tokens));
  }
  return { name, ...base, rules };
}

/** `type filter hook prerouting priority dstnat - 10; policy accept;` */
function baseChain(tokens: Tokens): Partial<ListedChain> {
  tokens.expect('type');
  const type = tokens.take();
  tokens.expect('hook');
  const hook = tokens.take();
  if (tokens.takes('device')) tokens.take();
  tokens.expect('priority');
  const first = tokens.take();
  let priority = PRIORITIES[first] ?? Number(first);
  if (tokens.takes('+')) priority += Number(tokens.take());
  else if (tokens.takes('-')) priority -= Number(tokens.take());
  tokens.skipLines();
  const policy = tokens.takes('policy') ? tokens.take() : 'accept';
  return { type, hook, priority, policy };
}

function set(tokens: Tokens, name: string): ListedSet {
  let type: readonly string[] = [];
  let value: readonly string[] | undefined;
  let flags: readonly string[] = [];
  let elements: readonly Value[] = [];
  let timeout: number | undefined;
  for (tokens.skipLines(); !tokens.takes('}'); tokens.skipLines()) {
    switch (tokens.take()) {
      case 'type': {
        const [key = '', its] = tokens.restOfLine().split(' : ');
        type = key.split(' . ');
        value = its?.split(' . ');
        break;
      }
      case 'flags':
        flags = tokens.restOfLine().split(',');
        break;
      case 'timeout':
        timeout = seconds(tokens.restOfLine());
        break;
      case 'elements':
        tokens.expect('=');
        elements = parseElements(tokens);
        break;
      default:
        tokens.restOfLine();
    }
  }
  return { name, type, ...(value && { value }), ...(timeout !== undefined && { timeout }), flags, elements };
}

const VERDICTS: ReadonlySet<string> = new Set(['accept', 'drop', 'return', 'continue']);
const OPERATORS: ReadonlySet<string> = new Set(['==', '!=', '<', '>', '<=', '>=']);
const BITWISE: ReadonlySet<string> = new Set(['&', '|', '^']);
const TRANSPORTS: ReadonlySet<string> = new Set(['tcp', 'udp', 'sctp', 'th']);
/** Keys of `meta` that are listed without that word. */
const BARE_META: ReadonlySet<string> = new Set(['iif', 'oif', 'iifname', 'oifname']);

/** Reads one rule, up to the end of its line. What is not known becomes a statement `unknown` with the rest of the rule. */
function parseStatements(tokens: Tokens): ListedRule {
  const statements: Statement[] = [];
  let comment: string | undefined;
  while (!tokens.isAtEndOfLine)
    if (tokens.takes('comment')) comment = tokens.take();
    else statements.push(statement(tokens));
  return { statements, ...(comment !== undefined && { comment }) };
}

/** Reads what is in braces: keys, or keys with values. */
function parseElements(tokens: Tokens): readonly Value[] {
  tokens.expect('{');
  const elements: Value[] = [];
  for (skip(tokens); !tokens.takes('}'); skip(tokens)) elements.push(element(tokens));
  return elements;
}

function skip(tokens: Tokens): void {
  while (tokens.takes(',') || tokens.takes('\n')) continue;
}

function element(tokens: Tokens): Value {
  const key = withOptions(tokens, concatenation(tokens));
  if (!tokens.takes(':')) return key;
  return [key, verdict(tokens) ?? withOptions(tokens, concatenation(tokens))];
}

/** `timeout 10m`, `expires 3s`, `comment "…"`, `counter packets 1 bytes 2`. */
function withOptions(tokens: Tokens, val: Value): Value {
  const options: Record<string, Value> = {};
  for (;;) {
    while (tokens.takes('\n')) continue;
    if (tokens.takes('timeout')) options.timeout = seconds(tokens.take());
    else if (tokens.takes('expires')) options.expires = seconds(tokens.take());
    else if (tokens.takes('comment')) options.comment = tokens.take();
    else if (tokens.takes('counter')) for (let word = 0; word < 4; word++) tokens.take();
    else break;
  }
  return Object.keys(options).length === 0 ? val : { elem: { val, ...options } };
}

const UNITS: Readonly<Record<string, number>> = { d: 86400, h: 3600, m: 60, s: 1, ms: 0.001 };

/** `1h30m`, `10s`. */
function seconds(text: string): number {
  return [...text.matchAll(/(\d+)(ms|[dhms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!,
    0,
  );
}

function verdict(tokens: Tokens): Statement | undefined {
  const word = tokens.next;
  if (VERDICTS.has(word)) return { [tokens.take()]: null };
  if (word !== 'jump' && word !== 'goto') return undefined;
  tokens.take();
  return { [word]: { target: tokens.take() } };
}

function statement(tokens: Tokens): Statement {
  const decided = verdict(tokens);
  if (decided) return decided;
  switch (tokens.next) {
    case 'counter':
      tokens.take();
      if (tokens.takes('packets')) for (let word = 0; word < 3; word++) tokens.take();
      return { counter: null };
    case 'reject':
      tokens.take();
      if (tokens.takes('with')) skipAnswer(tokens);
      return { reject: null };
    case 'masquerade': {
      tokens.take();
      const flags = [];
      while (/^(?:random|fully-random|persistent)/.test(tokens.next)) flags.push(tokens.take());
      return { masquerade: { flags } };
    }
    case 'dnat':
    case 'snat':
      return translation(tokens);
    case 'update':
    case 'add':
      return remembering(tokens);
  }
  const left = value(tokens);
  if (left === undefined) return { unknown: tokens.restOfLine() };
  if (tokens.takes('set')) return { mangle: { key: left, value: value(tokens) ?? tokens.restOfLine() } };
  if (tokens.takes('vmap')) return { vmap: { key: left, data: data(tokens) } };
  const op = OPERATORS.has(tokens.next) ? tokens.take() : undefined;
  return { match: { op: op ?? 'in', left, right: right(tokens) } };
}

/** `icmp port-unreachable`, `icmpx type admin-prohibited`, `tcp reset`. */
function skipAnswer(tokens: Tokens): void {
  tokens.take();
  tokens.takes('type');
  tokens.take();
}

/** `dnat ip to ADDRESS`, with a port behind a colon, or a map that has both. */
function translation(tokens: Tokens): Statement {
  const type = tokens.take();
  if (tokens.next === 'ip' || tokens.next === 'ip6') tokens.take();
  if (!tokens.takes('to')) return { unknown: `${type} ${tokens.restOfLine()}` };
  const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([\d.]+)):(\d+)$/i.exec(tokens.next) ?? [];
  if (port === undefined) return { [type]: { addr: value(tokens) ?? tokens.restOfLine() } };
  tokens.take();
  return { [type]: { addr: bracketed ?? plain, port: Number(port) } };
}

function remembering(tokens: Tokens): Statement {
  const op = tokens.take();
  const set = tokens.take();
  tokens.expect('{');
  const elem = withOptions(tokens, concatenation(tokens));
  if (!tokens.takes('}')) {
    tokens.skipBlock();
    return { unknown: `${op} ${set}` };
  }
  return { set: { op, elem, set } };
}

/** An expression about the packet, with what is done to it; undefined if it is none that is known. */
function value(tokens: Tokens): Value {
  let found = single(tokens);
  if (found === undefined) return undefined;
  const parts: Value[] = [found];
  while (tokens.takes('.')) parts.push(single(tokens) ?? literal(tokens));
  if (parts.length > 1) found = { concat: parts };
  while (BITWISE.has(tokens.next)) {
    const operator = tokens.take();
    found = { [operator]: [found, single(tokens) ?? literal(tokens)] };
  }
  return tokens.takes('map') ? { map: { key: found, data: data(tokens) } } : found;
}

function concatenation(tokens: Tokens): Value {
  const found = value(tokens);
  if (found !== undefined) return found;
  const parts = [literal(tokens)];
  while (tokens.takes('.')) parts.push(single(tokens) ?? literal(tokens));
  return parts.length === 1 ? parts[0] : { concat: parts };
}

function single(tokens: Tokens): Value {
  if (tokens.isQuoted) return undefined;
  const word = tokens.next;
  if (word === 'ip' || word === 'ip6' || word === 'icmp' || word === 'icmpv6') return payload(tokens);
  // As a literal, the name of a protocol stands alone.
  if (TRANSPORTS.has(word)) return payload(tokens);
  if (word === 'meta') {
    tokens.take();
    return { meta: { key: tokens.take() } };
  }
  if (BARE_META.has(word)) return { meta: { key: tokens.take() } };
  if (word === 'ct') return connection(tokens);
  if (word === 'fib') return route(tokens);
  if (word === 'numgen') return random(tokens);
  return undefined;
}

const FIELDS: ReadonlySet<string> = new Set(
  'saddr daddr protocol nexthdr sport dport flags dscp ttl hoplimit length type version'.split(' '),
);

function payload(tokens: Tokens): Value {
  const protocol = tokens.take();
  if (!FIELDS.has(tokens.next)) return protocol;
  return { payload: { protocol, field: tokens.take() } };
}

function connection(tokens: Tokens): Value {
  tokens.take();
  const dir = tokens.next === 'original' || tokens.next === 'reply' ? tokens.take() : undefined;
  const family = tokens.next === 'ip' || tokens.next === 'ip6' ? `${tokens.take()} ` : '';
  return { ct: { key: `${family}${tokens.take()}`, ...(dir !== undefined && { dir }) } };
}

/** `fib daddr type`, `fib saddr . iif oif`. */
function route(tokens: Tokens): Value {
  tokens.take();
  const flags = [tokens.take()];
  while (tokens.takes('.')) flags.push(tokens.take());
  return { fib: { flags, result: tokens.take() } };
}

function random(tokens: Tokens): Value {
  tokens.take();
  const mode = tokens.take();
  tokens.expect('mod');
  const mod = Number(tokens.take());
  return { numgen: { mode, mod, offset: tokens.takes('offset') ? Number(tokens.take()) : 0 } };
}

function data(tokens: Tokens): Value {
  return tokens.next === '{' ? { set: parseElements(tokens) } : tokens.take();
}

function right(tokens: Tokens): Value {
  if (tokens.next === '{') return { set: parseElements(tokens) };
  return concatenation(tokens);
}

/** A text, a number, a network or a range. */
function literal(tokens: Tokens): Value {
  const { isQuoted } = tokens;
  const text = tokens.take();
  if (isQuoted) return text;
  const [, addr, len] = /^([\da-f.:]+)\/(\d+)$/i.exec(text) ?? [];
  if (addr !== undefined) return { prefix: { addr, len: Number(len) } };
  const [, first, last] = /^([\da-f.:]+)-([\da-f.:]+)$/i.exec(text) ?? [];
  if (first !== undefined && /[.:]|^\d+$/.test(first)) return { range: [number(first), number(last!)] };
  if (/^[a-z]+(?:,[a-z]+)+$/.test(text)) return text.split(',');
  return number(text);
}

function number(text: string): Value {
  return /^(?:\d+|0x[\da-f]+)$/i.test(text) ? Number(text) : text;
}

/** A text that nft never lists; the message says where, and that JSON can be read instead. */
class ListingSyntaxError extends NamedError {
  constructor(line: number, found: string, expected: string) {
    super(
      `line ${line} of what nft listed, at ${JSON.stringify(found)}: expected ${expected}; \`nft -j list ruleset\` can be read, too`,
    );
  }
}

interface Token {
  readonly text: string;
  readonly line: number;
  readonly isQuoted: boolean;
}

const TOKEN = /#[^\n]*|"([^"]*)"|(\n)|([{};])|((?:[^\s{};",]|,(?=[^\s]))+)|(,)/g;
const END = '\n';

/** Reads words one after the other. Lines end statements, but within braces they mean nothing. */
class Tokens {
  private readonly tokens: readonly Token[];
  private at = 0;

  constructor(text: string) {
    let line = 1;
    const tokens: Token[] = [];
    for (const [, quoted, end, brace, word, comma] of text.matchAll(TOKEN)) {
      const isQuoted = quoted !== undefined;
      const found = quoted ?? end ?? brace ?? word ?? comma;
      if (found !== undefined) tokens.push({ text: found, line, isQuoted });
      if (end !== undefined) line++;
    }
    this.tokens = tokens;
  }

  /** The next word, without taking it; `''` at the end. */
  get next(): string {
    return this.tokens[this.at]?.text ?? '';
  }

  get isQuoted(): boolean {
    return this.tokens[this.at]?.isQuoted ?? false;
  }

  get isAtEnd(): boolean {
    return this.at >= this.tokens.length;
  }

  get isAtEndOfLine(): boolean {
    return this.isAtEnd || (!this.isQuoted && (this.next === END || this.next === ';' || this.next === '}'));
  }

  /** By how many levels the next word opens a block; braces in quotes do not count. */
  private get levels(): number {
    if (this.isQuoted) return 0;
    return this.next === '{' ? 1 : this.next === '}' ? -1 : 0;
  }

  take(): string {
    const { next } = this;
    this.at++;
    return next;
  }

  /** Takes the next word if it is this one. */
  takes(word: string): boolean {
    const isIt = !this.isQuoted && this.next === word;
    if (isIt) this.at++;
    return isIt;
  }

  expect(word: string): void {
    if (!this.takes(word)) this.fail(JSON.stringify(word));
  }

  skipLines(): void {
    while (!this.isAtEnd && (this.next === END || this.next === ';')) this.at++;
  }

  /** The words up to the end of the line. */
  restOfLine(): string {
    const words: string[] = [];
    let depth = 0;
    while (!this.isAtEnd && (depth > 0 || !this.isAtEndOfLine)) {
      depth += this.levels;
      words.push(this.take());
    }
    return words.join(' ');
  }

  /** Skips what is in braces, the first of which was taken. */
  skipBlock(): void {
    for (let depth = 1; depth > 0;) {
      if (this.isAtEnd) this.fail('"}"');
      depth += this.levels;
      this.at++;
    }
  }

  fail(expected: string): never {
    throw new ListingSyntaxError(
      this.tokens[this.at]?.line ?? this.tokens.at(-1)?.line ?? 1,
      this.next,
      expected,
    );
  }
}
