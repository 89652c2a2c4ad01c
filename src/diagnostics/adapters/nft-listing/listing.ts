/** Rulesets that nft has listed: what packets meet in them. */

import { nftablesSide } from '../../domain/compare/nftables-side.js';
import type { Side } from '../../domain/compare/side.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { KernelChain, KernelHook, KernelTable } from '../../../domain/nftables/kernel/ruleset.js';
import { nftFamily } from '../../../domain/nftables/layout/table.js';
import { parseRule, type TableSets } from './rule-parser.js';
import { textOfJson, Tokens } from './tokens.js';
import {
  LENGTHS,
  secondsIn,
  setOf,
  takeSet,
  type DataType,
  type ListedSet,
  type SetTypes,
} from './values.js';

/** A ruleset as far as packets are followed. */
export interface Listing {
  readonly tables: readonly ListedTable[];
}

export interface ListedTable {
  readonly family: KernelTable['family'];
  readonly name: string;
  readonly chains: readonly KernelChain[];
  /** Those without names among them. */
  readonly sets: readonly ListedSet[];
  /** What is not understood. */
  readonly unsupported: readonly string[];
}

/** What packets of a family meet in the tables that were listed; undefined if there are none. */
export function listedSide({ tables }: Listing, family: IpFamily): Side | undefined {
  const its = tables.filter((table) => table.family === nftFamily(family) || table.family === 'inet');
  if (its.length === 0) return undefined;
  const elements = new Map(its.flatMap(({ sets }) => sets.map((each) => [each.set, each.elements])));
  const kernelTables = its.map((table, number) => ({
    ...table,
    number,
    chains: new Map(table.chains.map((chain) => [chain.name, chain])),
    sets: new Map(table.sets.map(({ set }) => [set.name, set])),
  }));
  const ruleset = { tables: kernelTables, deviceNumbers: new Map<string, number>() };
  const side = nftablesSide(ruleset, family, (_, set) => elements.get(set)!);
  return { ...side, unsupported: [...side.unsupported, ...its.flatMap(({ unsupported }) => unsupported)] };
}

/** Reads what `nft -j list ruleset` or `nft -j list table` printed. @throws ListingJsonError */
export function parseJsonListing(text: string): Listing {
  return listing(new Tokens(textOfJson(text)));
}

/** Reads what `nft list ruleset` or `nft list table` printed. @throws ListingSyntaxError */
export function parseListing(text: string): Listing {
  return listing(new Tokens(text));
}

function listing(tokens: Tokens): Listing {
  const tables: ListedTable[] = [];
  for (tokens.skipLines(); !tokens.isAtEnd; tokens.skipLines()) {
    tokens.expect('table');
    const [family, name] = [tokens.take(), tokens.take()];
    tokens.expect('{');
    if (family === 'ip' || family === 'ip6' || family === 'inet')
      tables.push(new TableParser(tokens, family, name).table());
    else tokens.skipBlock();
  }
  return { tables };
}

const PRIORITIES: Readonly<Record<string, number>> = {
  raw: -300,
  mangle: -150,
  dstnat: -100,
  filter: 0,
  security: 50,
  srcnat: 100,
};

/** Reads a table. nft lists sets before the chains whose rules look into them. */
class TableParser implements TableSets {
  readonly types = new Map<string, SetTypes>();
  readonly timeouts = new Map<string, number>();
  private readonly sets: ListedSet[] = [];
  private readonly unsupported: string[] = [];

  constructor(
    private readonly tokens: Tokens,
    private readonly family: KernelTable['family'],
    private readonly name: string,
  ) {}

  table(): ListedTable {
    const { tokens, family, name, sets, unsupported } = this;
    const chains: KernelChain[] = [];
    for (tokens.skipLines(); !tokens.takes('}'); tokens.skipLines()) {
      const kind = tokens.take();
      if (kind === 'comment' || kind === 'flags') {
        tokens.restOfLine();
        continue;
      }
      const its = tokens.take();
      tokens.expect('{');
      if (kind === 'chain') chains.push(this.chain(its, chains.length));
      else if (kind === 'set' || kind === 'map') this.set(its);
      else tokens.skipBlock();
    }
    return { family, name, chains, sets, unsupported };
  }

  add(make: (name: string) => ListedSet | undefined, types: SetTypes): string | undefined {
    const name = `__set${this.sets.length}`;
    const made = make(name);
    if (!made) return undefined;
    this.types.set(name, types);
    this.sets.push(made);
    return name;
  }

  private chain(name: string, number: number): KernelChain {
    const { tokens } = this;
    const rules: KernelChain['rules'][number][] = [];
    let hook: KernelHook | undefined;
    for (tokens.skipLines(); !tokens.takes('}'); tokens.skipLines()) {
      if (tokens.next === 'type') hook = baseChain(tokens);
      else if (tokens.next === 'comment') tokens.restOfLine();
      else rules.push(parseRule(tokens, this.family, this));
    }
    return { name, number, ...(hook && { hook }), rules };
  }

  private set(name: string): void {
    const { tokens } = this;
    let types: SetTypes | undefined;
    let isInterval = false;
    let listed: ListedSet | undefined;
    let isEmpty = true;
    for (tokens.skipLines(); !tokens.takes('}'); tokens.skipLines()) {
      switch (tokens.take()) {
        case 'type':
          types = setTypes(tokens.restOfLine());
          break;
        case 'flags':
          isInterval = tokens.restOfLine().split(',').includes('interval');
          break;
        case 'timeout':
          this.timeouts.set(name, secondsIn(tokens.restOfLine()));
          break;
        case 'elements':
          tokens.expect('=');
          isEmpty = false;
          listed = takeSet(tokens, name, types ?? { key: [] }, isInterval);
          break;
        default:
          tokens.restOfLine();
      }
    }
    if (types && isEmpty) listed = setOf(name, types.key, [], isInterval);
    if (types && listed) {
      this.types.set(name, types);
      this.sets.push(listed);
    } else this.unsupported.push(`set ${name} of table ${this.name} is not understood`);
  }
}

/** `ipv4_addr . inet_service : verdict`; undefined for types that are not known. */
function setTypes(text: string): SetTypes | undefined {
  const [key, value] = text.split(' : ').map((each) => each.split(' . '));
  const isVerdict = value?.[0] === 'verdict';
  const all = [...key!, ...(isVerdict ? [] : (value ?? []))];
  if (!all.every((type) => Object.hasOwn(LENGTHS, type))) return undefined;
  return { key: key as DataType[], value: isVerdict ? 'verdict' : (value as DataType[] | undefined) };
}

/** `type filter hook prerouting priority dstnat - 10; policy accept;` */
function baseChain(tokens: Tokens): KernelHook {
  tokens.expect('type');
  const type = tokens.take();
  tokens.expect('hook');
  const hook = tokens.take() as KernelHook['hook'];
  if (tokens.takes('device')) tokens.take();
  tokens.expect('priority');
  const first = tokens.take();
  let priority = PRIORITIES[first] ?? Number(first);
  if (tokens.takes('+')) priority += Number(tokens.take());
  else if (tokens.takes('-')) priority -= Number(tokens.take());
  tokens.skipLines();
  const policy = tokens.takes('policy') && tokens.take() === 'drop' ? 'drop' : 'accept';
  return { type, hook, priority, policy };
}
