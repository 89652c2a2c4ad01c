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
