import { NamedError } from '../../../../domain/model/named-error.js';
import { getOrMake } from '../../../../domain/model/maps.js';
import {
  held,
  kindOf,
  type ListedChain,
  type ListedRule,
  type ListedSet,
  type Listing,
  type Statement,
  type Value,
} from './listing.js';

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
