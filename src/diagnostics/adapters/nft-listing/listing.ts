/** What nft lists, in the form of its JSON, and the reader of that JSON. */

import { NamedError } from '../../../domain/model/named-error.js';
import { getOrMake } from '../../../domain/model/maps.js';

/**
 * A ruleset as `nft -j list ruleset` prints it (libnftables-json(5)), as far as packets are followed: values are texts, numbers, or
 * objects with one field that says what they are.
 */
export interface Listing {
  readonly tables: readonly ListedTable[];
}

export interface ListedTable {
  readonly family: 'ip' | 'ip6' | 'inet';
  readonly name: string;
  readonly chains: readonly ListedChain[];
  readonly sets: readonly ListedSet[];
}

export interface ListedChain {
  readonly name: string;
  /** Of base chains. */
  readonly type?: string;
  readonly hook?: string;
  readonly priority?: number;
  readonly policy?: string;
  readonly rules: readonly ListedRule[];
}

export interface ListedRule {
  readonly statements: readonly Statement[];
  readonly comment?: string;
}

export interface ListedSet {
  readonly name: string;
  /** Of its keys, the parts of a concatenation one by one. */
  readonly type: readonly string[];
  /** Of its values, `verdict` among them; missing for sets. */
  readonly value?: readonly string[];
  readonly flags: readonly string[];
  /** Of its elements, in seconds. */
  readonly timeout?: number;
  /** Keys, or pairs of keys and values. */
  readonly elements: readonly Value[];
}

/** An object with one field: `{ "match": … }`. */
export type Statement = Readonly<Record<string, unknown>>;

/** A text, a number, a list, or an object with one field. */
export type Value = unknown;

/** What an object of one field is; undefined for anything else. */
export function kindOf(value: Value): string | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.keys(value)[0]
    : undefined;
}

/** What a value holds under a name; undefined if it is nothing of that name. */
export function held<T = Readonly<Record<string, Value>>>(value: Value, name: string): T | undefined {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? ((value as Record<string, unknown>)[name] as T)
    : undefined;
}

/** It is not what `nft -j list ruleset` prints. */
class ListingJsonError extends NamedError {
  constructor(why: string) {
    super(`this is not what \`nft -j list ruleset\` prints: ${why}`);
  }
}

type Fields = Readonly<Record<string, Value>>;
type OpenChain = ListedChain & { readonly rules: ListedRule[] };

interface OpenTable {
  readonly family: 'ip' | 'ip6' | 'inet';
  readonly name: string;
  readonly chains: OpenChain[];
  readonly sets: ListedSet[];
}

/** Reads what `nft -j list ruleset` or `nft -j list table` printed. @throws ListingJsonError */
export function parseJsonListing(text: string): Listing {
  const tables = new Map<string, OpenTable>();
  for (const object of objectsIn(text)) {
    const kind = kindOf(object);
    const fields = kind === undefined ? undefined : held<Fields>(object, kind);
    if (!fields || !/^(?:ip6?|inet)$/.test(String(fields.family))) continue;
    const family = fields.family as OpenTable['family'];
    const tableName = String(kind === 'table' ? fields.name : fields.table);
    const table = getOrMake(tables, `${family} ${tableName}`, () => ({
      family,
      name: tableName,
      chains: [],
      sets: [],
    }));
    const name = String(fields.name);
    if (kind === 'chain') table.chains.push(chainOf(name, fields));
    if (kind === 'set' || kind === 'map') table.sets.push(setOf(name, fields));
    if (kind === 'rule') {
      const chain = table.chains.find((each) => each.name === fields.chain);
      if (!chain) throw new ListingJsonError(`a rule of chain ${String(fields.chain)}, which is not there`);
      const comment = fields.comment === undefined ? {} : { comment: String(fields.comment) };
      chain.rules.push({ statements: fields.expr as readonly Statement[], ...comment });
    }
  }
  return { tables: [...tables.values()] };
}

function objectsIn(text: string): readonly Value[] {
  try {
    const found = held<Value>(JSON.parse(text), 'nftables');
    if (Array.isArray(found)) return found;
  } catch (error) {
    throw new ListingJsonError((error as Error).message);
  }
  throw new ListingJsonError('it has no "nftables"');
}

function chainOf(name: string, { type, hook, prio, policy }: Fields): OpenChain {
  if (hook === undefined) return { name, rules: [] };
  return {
    name,
    type: String(type),
    hook: String(hook),
    priority: Number(prio),
    policy: String(policy ?? 'accept'),
    rules: [],
  };
}

function setOf(name: string, { type, map, flags, timeout, elem }: Fields): ListedSet {
  const texts = (value: Value): readonly string[] => (Array.isArray(value) ? value : [value]).map(String);
  return {
    name,
    type: texts(type),
    ...(map !== undefined && { value: texts(map) }),
    flags: flags === undefined ? [] : texts(flags),
    ...(timeout !== undefined && { timeout: Number(timeout) }),
    elements: (elem ?? []) as readonly Value[],
  };
}
