import { nftablesSide } from '../../domain/compare/nftables-side.js';
import type { Side } from '../../domain/compare/side.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type {
  KernelElement,
  KernelHook,
  KernelSet,
  KernelTable,
} from '../../../domain/nftables/kernel/ruleset.js';
import { nftFamily } from '../../../domain/nftables/layout/table.js';
import { compileRule, type KnownSets } from './compile-rule.js';
import { compileSet, LENGTHS, type DataType } from './encode-value.js';
import type { ListedChain, ListedSet, ListedTable, Listing } from './listing.js';

/** What packets of a family meet in the tables that were listed; undefined if there are none. */
export function listedSide({ tables }: Listing, family: IpFamily): Side | undefined {
  const elements = new Map<KernelSet, readonly KernelElement[]>();
  const unsupported: string[] = [];
  const its = tables
    .filter((table) => table.family === nftFamily(family) || table.family === 'inet')
    .map((table, at) => compileTable(table, at, elements, unsupported));
  if (its.length === 0) return undefined;
  const side = nftablesSide(
    { tables: its, deviceNumbers: new Map() },
    family,
    (_, set) => elements.get(set) ?? [],
  );
  return { ...side, unsupported: [...side.unsupported, ...unsupported] };
}

function compileTable(
  table: ListedTable,
  number: number,
  elements: Map<KernelSet, readonly KernelElement[]>,
  unsupported: string[],
): KernelTable {
  const sets = new Map<string, KernelSet>();
  const listed = new Map(table.sets.map((set) => [set.name, set]));
  const values = new Map<string, readonly DataType[] | 'verdict' | undefined>();
  const types = new Map<string, readonly DataType[]>();
  const add = (
    name: string,
    keys: readonly DataType[],
    its: readonly DataType[] | 'verdict' | undefined,
    all: ListedSet['elements'],
    isInterval: boolean,
  ): string | undefined => {
    const compiled = compileSet(name, keys, its, all, isInterval);
    if (!compiled) return undefined;
    sets.set(name, compiled.set);
    elements.set(compiled.set, compiled.elements);
    types.set(name, keys);
    values.set(name, its);
    return name;
  };
  for (const { name, type, value, flags, elements: all } of table.sets) {
    const its = value?.[0] === 'verdict' ? 'verdict' : value && knownTypes(value);
    const keys = knownTypes(type);
    if (!keys || (value && !its) || add(name, keys, its, all, flags.includes('interval')) === undefined)
      unsupported.push(`set ${name} of table ${table.name} is not understood`);
  }
  const known: KnownSets = {
    typesOf: (name) => types.get(name),
    valuesOf: (name) => values.get(name),
    timeoutOf: (name) => listed.get(name)?.timeout ?? 0,
    add: (keys, its, all) => add(`__set${sets.size}`, keys, its, all, false),
  };
  const chains = table.chains.map(
    (chain, at) => [chain.name, compileChain(chain, at, table, known)] as const,
  );
  return { family: table.family, name: table.name, number, chains: new Map(chains), sets };
}

function compileChain(
  { name, type, hook, priority = 0, policy, rules }: ListedChain,
  number: number,
  table: ListedTable,
  sets: KnownSets,
): KernelTable['chains'] extends ReadonlyMap<string, infer Chain> ? Chain : never {
  const base: KernelHook | undefined =
    hook === undefined
      ? undefined
      : {
          type: type ?? 'filter',
          hook: hook as KernelHook['hook'],
          priority,
          policy: policy === 'drop' ? 'drop' : 'accept',
        };
  return {
    name,
    number,
    ...(base && { hook: base }),
    rules: rules.map((rule) => ({
      expressions: compileRule(rule, table, sets),
      ...(rule.comment !== undefined && { comment: rule.comment }),
    })),
  };
}

function knownTypes(names: readonly string[]): readonly DataType[] | undefined {
  return names.every((name) => Object.hasOwn(LENGTHS, name)) ? (names as readonly DataType[]) : undefined;
}
