/** The words of what nft prints, as text or as JSON. */

import { NamedError } from '../../../domain/model/named-error.js';

/** A text that nft never lists; the message says where, and that JSON can be read instead. */
class ListingSyntaxError extends NamedError {
  constructor(line: number, found: string, expected: string) {
    super(
      `line ${line} of what nft listed, at ${JSON.stringify(found)}: expected ${expected}; \`nft -j list ruleset\` can be read, too`,
    );
  }
}

export interface Token {
  readonly text: string;
  readonly isQuoted: boolean;
  /** Missing: it comes from JSON. */
  readonly line?: number;
}

const TOKEN = /#[^\n]*|"([^"]*)"|(\n)|([{};])|((?:[^\s{};",]|,(?=[^\s]))+)|(,)/g;
const END = '\n';

/** The tokens of a text. */
export function textTokens(text: string): readonly Token[] {
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

  constructor(private readonly tokens: readonly Token[]) {}

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

type Fields = Readonly<Record<string, unknown>>;

/** The tokens that nft prints as text for what it has printed as JSON (libnftables-json(5)). @throws ListingJsonError */
export function jsonTokens(text: string): readonly Token[] {
  const tables = new Map<string, { readonly sets: Token[]; readonly chains: Map<string, Token[]> }>();
  for (const object of objectsIn(text)) {
    const [[kind = '', its = {}] = []] = Object.entries(object) as [string, Fields][];
    const { family, table, name } = its;
    const place = `${String(family)} ${String(kind === 'table' ? name : table)}`;
    const known = tables.get(place) ?? { sets: [], chains: new Map<string, Token[]>() };
    tables.set(place, known);
    if (kind === 'set' || kind === 'map') known.sets.push(...setTokens(kind, its));
    if (kind === 'chain') known.chains.set(String(name), chainTokens(its));
    if (kind !== 'rule') continue;
    const chain = known.chains.get(String(its.chain));
    if (!chain) throw new ListingJsonError(`a rule of chain ${String(its.chain)}, which is not there`);
    for (const statement of its.expr as readonly object[])
      chain.push(...statementTokens(statement), word(';'));
    if (its.comment !== undefined) chain.push(word('comment'), value(its.comment)[0]!);
    chain.push(word(END));
  }
  return [...tables].flatMap(([place, { sets, chains }]) => [
    ...words(`table ${place} {`),
    ...sets,
    ...[...chains].flatMap(([name, rules]) => [...words(`chain ${name} {`), ...rules, word('}')]),
    word('}'),
  ]);
}

function objectsIn(text: string): readonly object[] {
  let found: unknown;
  try {
    found = (JSON.parse(text) as { readonly nftables?: unknown }).nftables;
  } catch (error) {
    throw new ListingJsonError((error as Error).message);
  }
  if (!Array.isArray(found)) throw new ListingJsonError('it has no "nftables"');
  return found.filter((object: object) => !('metainfo' in object)) as readonly object[];
}

function word(text: string): Token {
  return { text, isQuoted: false };
}

function words(text: string): readonly Token[] {
  return text.split(' ').map(word);
}

function chainTokens({ type, hook, prio, policy = 'accept' }: Fields): Token[] {
  if (hook === undefined) return [];
  return [
    ...words(
      `type ${String(type)} hook ${String(hook)} priority ${String(prio)} ; policy ${String(policy)} ;`,
    ),
  ];
}

function setTokens(kind: string, { name, type, map, flags, timeout, elem }: Fields): readonly Token[] {
  const types = (its: unknown) => [its].flat().join(' . ');
  return [
    ...words(`${kind} ${String(name)} {`),
    ...words(`type ${types(type)}${map === undefined ? '' : ` : ${types(map)}`} ;`),
    ...(flags === undefined ? [] : words(`flags ${[flags].flat().join(',')} ;`)),
    ...(timeout === undefined ? [] : words(`timeout ${String(timeout)}s ;`)),
    ...(elem === undefined ? [] : [...words('elements ='), ...value({ set: elem }), word(';')]),
    word('}'),
  ];
}

function statementTokens(statement: object): readonly Token[] {
  const [[kind = '', content] = []] = Object.entries(statement) as [string, unknown][];
  const its = (content ?? {}) as Fields;
  switch (kind) {
    case 'match':
      return [...value(its.left), ...(its.op === 'in' ? [] : [word(String(its.op))]), ...value(its.right)];
    case 'vmap':
      return [...value(its.key), word('vmap'), ...value(its.data)];
    case 'mangle':
      return [...value(its.key), word('set'), ...value(its.value)];
    case 'dnat':
    case 'snat': {
      const to = its.port === undefined ? value(its.addr) : [word(addressAndPort(its.addr, its.port))];
      return [...words(`${kind} to`), ...to];
    }
    case 'masquerade':
      return [word(kind), ...[its.flags ?? []].flat().map((flag) => word(String(flag)))];
    case 'limit':
      return words(`limit rate ${its.inv === true ? 'over ' : ''}${String(its.rate)}/${String(its.per)}`);
    case 'set':
      return [...words(`${String(its.op)} ${String(its.set)} {`), ...value(its.elem), word('}')];
    case 'jump':
    case 'goto':
      return words(`${kind} ${String(its.target)}`);
    case 'accept':
    case 'drop':
    case 'return':
    case 'continue':
    case 'reject':
    case 'counter':
    case 'log':
      return [word(kind)];
    default:
      return [{ text: JSON.stringify(statement), isQuoted: true }];
  }
}

function addressAndPort(address: unknown, port: unknown): string {
  const text = address === undefined ? '' : String(address);
  return `${text.includes(':') ? `[${text}]` : text}:${String(port)}`;
}

function value(its: unknown): readonly Token[] {
  if (typeof its === 'string') return [{ text: its, isQuoted: !its.startsWith('@') }];
  if (Array.isArray(its)) return [word(its.join(','))];
  if (typeof its !== 'object' || its === null) return [word(String(its))];
  const [[kind = '', content] = []] = Object.entries(its) as [string, unknown][];
  const list = content as readonly unknown[];
  const fields = content as Fields;
  switch (kind) {
    case 'concat':
      return list.flatMap((part, at) => (at === 0 ? value(part) : [word('.'), ...value(part)]));
    case 'payload':
      return words(`${String(fields.protocol)} ${String(fields.field)}`);
    case 'meta':
      return words(`meta ${String(fields.key)}`);
    case 'ct':
      return words(`ct ${fields.dir === undefined ? '' : `${String(fields.dir)} `}${String(fields.key)}`);
    case 'fib':
      return words(`fib ${[fields.flags].flat().join(' . ')} ${String(fields.result)}`);
    case 'numgen':
      return words(
        `numgen ${String(fields.mode)} mod ${String(fields.mod)} offset ${String(fields.offset ?? 0)}`,
      );
    case 'map':
      return [...value(fields.key), word('map'), ...value(fields.data)];
    case '&':
    case '|':
    case '^':
      return [...value(list[0]), word(kind), ...value(list[1])];
    case 'prefix':
      return [word(`${String(fields.addr)}/${String(fields.len)}`)];
    case 'range':
      return [word(list.join('-'))];
    case 'set':
      return [word('{'), ...list.flatMap((each) => [...element(each), word(',')]), word('}')];
    case 'elem':
      return element(its);
    default:
      return [{ text: JSON.stringify(its), isQuoted: true }];
  }
}

function element(its: unknown): readonly Token[] {
  if (Array.isArray(its)) {
    const [key, to] = its as readonly unknown[];
    const isVerdict = typeof to === 'object' && to !== null && !('concat' in to);
    return [...element(key), word(':'), ...(isVerdict ? statementTokens(to) : value(to))];
  }
  const { elem } = (typeof its === 'object' ? its : {}) as { readonly elem?: Fields };
  if (!elem) return value(its);
  return [
    ...value(elem.val),
    ...(elem.timeout === undefined ? [] : words(`timeout ${String(elem.timeout)}s`)),
    ...(elem.comment === undefined ? [] : [word('comment'), ...value(elem.comment)]),
  ];
}
