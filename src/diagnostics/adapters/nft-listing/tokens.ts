/** The words of what nft prints, as text or as JSON. */

import { getOrMake } from '../../../domain/model/maps.js';
import { NamedError } from '../../../domain/model/named-error.js';
import { hostPort } from '../../../domain/net/address.js';

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
  readonly isQuoted: boolean;
  readonly line: number;
}

const TOKEN = /#[^\n]*|"([^"]*)"|(\n)|([{};])|((?:[^\s{};",]|,(?=[^\s]))+)|(,)/g;
const END = '\n';

function tokensOf(text: string): readonly Token[] {
  let line = 1;
  const tokens: Token[] = [];
  for (const [, quoted, end, brace, word, comma] of text.matchAll(TOKEN)) {
    const isQuoted = quoted !== undefined;
    const found = quoted ?? end ?? brace ?? word ?? comma;
    if (found !== undefined) tokens.push({ text: found, line, isQuoted });
    if (end !== undefined) line++;
  }
  return tokens;
}

/** Reads words one after the other. Lines end statements, but within braces they mean nothing. */
export class Tokens {
  private at = 0;

  private readonly tokens: readonly Token[];

  constructor(text: string) {
    this.tokens = tokensOf(text);
  }

  /** The next word, without taking it; `''` at the end. */
  get next(): string {
    return this.peek(0);
  }

  /** One of the words that come. */
  peek(ahead: number): string {
    return this.tokens[this.at + ahead]?.text ?? '';
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

  /** How many words were taken, and those of them from a place on. */
  get place(): number {
    return this.at;
  }

  takenFrom(place: number): string {
    const taken = this.tokens.slice(place, this.at);
    return taken.map(({ text }) => text).join(' ');
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
    while (this.takes(END) || this.takes(';')) continue;
  }

  /** The words up to the end of the line. */
  restOfLine(): string {
    const from = this.at;
    let depth = 0;
    while (!this.isAtEnd && (depth > 0 || !this.isAtEndOfLine)) {
      depth += this.levels;
      this.at++;
    }
    return this.takenFrom(from);
  }

  /** Skips what is in braces, the first of which was taken. */
  skipBlock(): void {
    for (let depth = 1; depth > 0; this.at++) {
      if (this.isAtEnd) this.fail('"}"');
      depth += this.levels;
    }
  }

  private fail(expected: string): never {
    const line = this.tokens[this.at]?.line ?? this.tokens.at(-1)?.line ?? 1;
    throw new ListingSyntaxError(line, this.next, expected);
  }
}

/** It is not what `nft -j list ruleset` prints. */
class ListingJsonError extends NamedError {
  constructor(why: string) {
    super(`this is not what \`nft -j list ruleset\` prints: ${why}`);
  }
}

// nft's own JSON, which is printed and not checked: what it lacks becomes a text that is not understood.
// eslint-disable-next-line @typescript-eslint/no-explicit-any
type Json = any;
type Fields = Readonly<Record<string, Json>>;

/** What nft prints as text where it has printed this as JSON (libnftables-json(5)). @throws ListingJsonError */
export function textOfJson(json: string): string {
  const tables = new Map<string, { readonly sets: string[]; readonly chains: Map<string, string[]> }>();
  for (const object of objectsIn(json)) {
    const [kind, its] = only(object);
    const place = `${its.family} ${kind === 'table' ? its.name : its.table}`;
    const { sets, chains } = getOrMake(tables, place, () => ({ sets: [], chains: new Map() }));
    if (kind === 'set' || kind === 'map') sets.push(`${kind} ${its.name} {`, ...setLines(its), '}');
    if (kind === 'chain') chains.set(its.name, hookLines(its));
    if (kind !== 'rule') continue;
    const chain = chains.get(its.chain);
    if (!chain) throw new ListingJsonError(`a rule of chain ${its.chain}, which is not there`);
    const comment = its.comment === undefined ? '' : `comment ${value(its.comment)}`;
    chain.push([...its.expr.map(statement), comment].join(' ; '));
  }
  const lines = [...tables].flatMap(([place, { sets, chains }]) => [
    `table ${place} {`,
    ...sets,
    ...[...chains].flatMap(([name, rules]) => [`chain ${name} {`, ...rules, '}']),
    '}',
  ]);
  return lines.join(END);
}

function objectsIn(json: string): readonly Fields[] {
  let found: unknown;
  try {
    found = (JSON.parse(json) as { readonly nftables?: unknown }).nftables;
  } catch (error) {
    throw new ListingJsonError((error as Error).message);
  }
  if (!Array.isArray(found)) throw new ListingJsonError('it has no "nftables"');
  return found.filter((object: Fields) => !object.metainfo);
}

/** The one field of an object: what it is, and the rest. */
function only(object: Fields): readonly [kind: string, its: Fields] {
  const [kind = '', its] = Object.entries(object)[0] ?? [];
  return [kind, its ?? {}];
}

function hookLines({ type, hook, prio, policy = 'accept' }: Fields): string[] {
  return hook === undefined ? [] : [`type ${type} hook ${hook} priority ${prio}; policy ${policy};`];
}

function setLines({ type, map, flags, timeout, elem }: Fields): readonly string[] {
  const types = (its: unknown) => [its].flat().join(' . ');
  return [
    `type ${types(type)}${map === undefined ? '' : ` : ${types(map)}`}`,
    ...(flags === undefined ? [] : [`flags ${[flags].flat().join(',')}`]),
    ...(timeout === undefined ? [] : [`timeout ${timeout}s`]),
    ...(elem === undefined ? [] : [`elements = ${value({ set: elem })}`]),
  ];
}

function statement(object: Fields): string {
  const [kind, its] = only(object);
  switch (kind) {
    case 'match':
      return `${value(its.left)} ${its.op === 'in' ? '' : its.op} ${value(its.right)}`;
    case 'vmap':
      return `${value(its.key)} vmap ${value(its.data)}`;
    case 'mangle':
      return `${value(its.key)} set ${value(its.value)}`;
    case 'dnat':
    case 'snat':
      return `${kind} to ${its.port === undefined ? value(its.addr) : hostPort(its.addr ?? '', its.port)}`;
    case 'masquerade':
      return `masquerade ${[its.flags ?? []].flat().join(' ')}`;
    case 'limit':
      return `limit rate ${its.inv ? 'over ' : ''}${its.rate}/${its.per}`;
    case 'set':
      return `${its.op} ${its.set} { ${value(its.elem)} }`;
    case 'jump':
    case 'goto':
      return `${kind} ${its.target}`;
    case 'accept':
    case 'drop':
    case 'return':
    case 'continue':
    case 'reject':
    case 'counter':
    case 'log':
      return kind;
    default:
      return quoted(JSON.stringify(object));
  }
}

function value(its: Json): string {
  if (typeof its === 'string') return its.startsWith('@') ? its : quoted(its);
  if (Array.isArray(its)) return its.join(',');
  if (typeof its !== 'object') return String(its);
  const [kind, fields] = only(its);
  switch (kind) {
    case 'concat':
      return fields.map(value).join(' . ');
    case 'payload':
      return `${fields.protocol} ${fields.field}`;
    case 'meta':
      return `meta ${fields.key}`;
    case 'ct':
      return `ct ${fields.dir ?? ''} ${fields.key}`;
    case 'fib':
      return `fib ${[fields.flags].flat().join(' . ')} ${fields.result}`;
    case 'numgen':
      return `numgen ${fields.mode} mod ${fields.mod} offset ${fields.offset ?? 0}`;
    case 'map':
      return `${value(fields.key)} map ${value(fields.data)}`;
    case '&':
    case '|':
    case '^':
      return `${value(fields[0])} ${kind} ${value(fields[1])}`;
    case 'prefix':
      return `${fields.addr}/${fields.len}`;
    case 'range':
      return fields.join('-');
    case 'set':
      return `{ ${fields.map(element).join(', ')} }`;
    case 'elem':
      return element(its);
    default:
      return quoted(JSON.stringify(its));
  }
}

function element(its: Json): string {
  if (Array.isArray(its)) {
    const [key, to] = its;
    const isVerdict = typeof to === 'object' && !('concat' in to);
    return `${element(key)} : ${isVerdict ? statement(to) : value(to)}`;
  }
  const { val, timeout, comment } = its.elem ?? { val: its };
  const options = [timeout && `timeout ${timeout}s`, comment && `comment ${quoted(comment)}`];
  return [value(val), ...options.filter(Boolean)].join(' ');
}

/** nft has no way to write a quote in quotes. */
function quoted(text: string): string {
  return `"${text.replaceAll('"', "'")}"`;
}
