import { getOrMake } from '../../../domain/model/maps.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { byteText, hex, readNetworkHalf } from '../../../domain/nftables/kernel/bytes.js';
import { findRange, sorted } from '../nftables/elements.js';
import type {
  KernelElement,
  KernelRuleset,
  KernelSet,
  KernelTable,
  Expression,
  KernelRule,
} from '../../../domain/nftables/kernel/ruleset.js';
import { RulesetWalk } from '../nftables/ruleset-walk.js';
import { SourceWatch } from '../nftables/source-watch.js';
import type { Side, NamedDestination } from './side.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import { PROTOCOL_NUMBERS } from '../../../domain/model/service-port-name.js';
import { addressBits } from '../../../domain/net/cidr.js';
import type { AddressRange } from './address-ranges.js';
import { ADDRESSES } from '../../../domain/nftables/layout/table.js';

/** All elements of a set. */
export type ElementsOf = (table: KernelTable, set: KernelSet) => readonly KernelElement[];

/** All tables of nf_tables that packets of a family meet. What packets put into sets is taken as not there. */
export function nftablesSide(ruleset: KernelRuleset, family: IpFamily, elementsOf: ElementsOf): Side {
  const dynamic = new Set(ruleset.tables.flatMap(dynamicSets));
  const lists = new Map<KernelSet, readonly KernelElement[]>();
  const tableOf = new Map(
    ruleset.tables.flatMap((table) => [...table.sets.values()].map((set) => [set, table])),
  );
  const elements = (set: KernelSet): readonly KernelElement[] =>
    dynamic.has(set)
      ? []
      : getOrMake(lists, set, () => {
          const all = elementsOf(tableOf.get(set)!, set);
          return set.ranges === undefined ? all : sorted(all);
        });
  const indexes = new Map<KernelSet, ReadonlyMap<string, KernelElement>>();
  const find = (set: KernelSet, key: Uint8Array): KernelElement | undefined =>
    set.ranges === undefined
      ? getOrMake(indexes, set, () => byKey(elements(set))).get(byteText(key))
      : findRange(elements(set), set.ranges, key);
  const destinations = new RulesetDestinations(ruleset, elements);
  const source = new SourceWatch(family, { elements, isDynamic: (set) => dynamic.has(set) });
  return {
    mode: 'nftables',
    serviceAddresses: new Set(),
    unsupported: destinations.unsupported,
    destinations: () => destinations.all(),
    walk(packet, { localAddresses, remembered }, watch) {
      return new RulesetWalk(
        ruleset,
        packet,
        localAddresses,
        (_, set, key) => (remembered?.get(set.name)?.has(hex(key)) ? { key } : find(set, key)),
        () => undefined,
        watch && { watch, source },
      ).paths();
    },
  };
}

function dynamicSets({ chains, sets }: KernelTable): readonly KernelSet[] {
  return [...chains.values()].flatMap(({ rules }) =>
    rules.flatMap(({ expressions }) =>
      expressions.flatMap((expression) =>
        expression.kind === 'remember' ? (sets.get(expression.set) ?? []) : [],
      ),
    ),
  );
}

function byKey(elements: readonly KernelElement[]): ReadonlyMap<string, KernelElement> {
  return new Map(elements.flatMap((element) => (element.key ? [[byteText(element.key), element]] : [])));
}

/** What of a destination registers hold, by their first byte, and how many bytes of it. */
interface Field {
  readonly of: 'address' | 'protocol' | 'port';
  readonly length: number;
  readonly mask?: Uint8Array;
}

type ListElements = (set: KernelSet) => readonly KernelElement[];

/** Every destination that rules or elements of sets name. */
class RulesetDestinations {
  /** Comparisons of destinations that are not understood. */
  readonly unsupported: readonly string[];
  private readonly found: readonly NamedDestination[];

  constructor({ tables }: KernelRuleset, elements: ListElements) {
    const unsupported = new Set<string>();
    this.found = tables.flatMap((table) => {
      const family = table.family === 'ip6' ? 'IPv6' : 'IPv4';
      const reader = new RuleReader(table, family, elements, (text) => unsupported.add(text));
      return [...table.chains.values()].flatMap(({ rules }) =>
        rules.flatMap((rule) => [...reader.read(rule)]),
      );
    });
    this.unsupported = [...unsupported];
  }

  all(): readonly NamedDestination[] {
    return this.found;
  }
}

class RuleReader {
  private readonly seen = new Set<string>();

  constructor(
    private readonly table: KernelTable,
    private readonly family: IpFamily,
    private readonly elements: ListElements,
    private readonly add: (text: string) => void,
  ) {}

  /** The destinations that a rule alone distinguishes. */
  *read({ expressions }: KernelRule): Generator<NamedDestination> {
    const fields = new Map<number, Field>();
    let named: NamedDestination = {};
    for (const expression of expressions) {
      const field = fieldOf(expression, this.family);
      // Before what it looks up is stored, perhaps where its key is.
      if (expression.kind === 'lookup') yield* this.lookedUp(expression, fields, named);
      if ('to' in expression && typeof expression.to === 'number' && expression.kind !== 'bitwise') {
        fields.delete(expression.to);
        if (field) fields.set(expression.to, field);
      }
      if (expression.kind === 'bitwise') {
        const source = fields.get(expression.from);
        fields.delete(expression.to);
        if (source) fields.set(expression.to, { ...source, mask: expression.mask });
      }
      if (expression.kind === 'cmp' || expression.kind === 'range') {
        const compared = this.compared(expression, fields.get(expression.from));
        named = { ...named, ...compared };
      }
    }
    if (Object.keys(named).length > 0) yield named;
  }

  private compared(
    expression: Extract<Expression, { kind: 'cmp' | 'range' }>,
    field: Field | undefined,
  ): NamedDestination {
    if (!field) return {};
    const [low, high] =
      expression.kind === 'cmp' ? [expression.value, expression.value] : [expression.first, expression.last];
    switch (field.of) {
      case 'protocol': {
        const protocol = protocolOf(low[0]!);
        return protocol ? { protocol } : {};
      }
      case 'port':
        if (field.length !== 2 || field.mask) this.add('some bits of a destination port');
        return { ports: [readNetworkHalf(low), readNetworkHalf(high)] };
      case 'address':
        return { addresses: this.range(low, high, field.mask) };
    }
  }

  /** Bounds of addresses of which only the first bytes or bits are compared. */
  private range(low: Uint8Array, high: Uint8Array, mask?: Uint8Array): AddressRange {
    const length = addressBits(this.family) / 8;
    const number = (bytes: Uint8Array, rest: number) => {
      const whole = new Uint8Array(length).fill(rest);
      whole.set(bytes.map((byte, at) => (mask && rest > 0 ? byte | (~mask[at]! & 0xff) : byte)));
      return BigInt(hex(whole));
    };
    return { first: number(low, 0), last: number(high, 0xff) };
  }

  private *lookedUp(
    { set: name, from }: Extract<Expression, { kind: 'lookup' }>,
    fields: ReadonlyMap<number, Field>,
    named: NamedDestination,
  ): Generator<NamedDestination> {
    const set = this.table.sets.get(name);
    if (!set) return;
    const key = [...fields]
      .filter(([at]) => at >= from && at < from + set.keyLength)
      .map(([at, field]) => [at - from, field] as const);
    if (key.length === 0) return;
    const text = `${name} ${key.map(([at, { of }]) => `${of} ${at}`).join()} ${named.protocol}`;
    if (this.seen.has(text)) return;
    this.seen.add(text);
    const elements = this.elements(set);
    for (const [at, element] of elements.entries())
      if (element.key) yield this.element(set, elements, at, key, named);
  }

  private element(
    set: KernelSet,
    elements: readonly KernelElement[],
    at: number,
    key: readonly (readonly [number, Field])[],
    named: NamedDestination,
  ): NamedDestination {
    const { key: first, lastKey } = elements[at]!;
    let found = named;
    for (const [offset, { of, length }] of key) {
      const low = first!.subarray(offset, offset + length);
      const high = (lastKey ?? first!).subarray(offset, offset + length);
      const compared = {
        protocol: () => {
          const protocol = protocolOf(low[0]!);
          return protocol ? { protocol } : {};
        },
        port: () => ({ ports: [readNetworkHalf(low), readNetworkHalf(high)] as const }),
        address: () => ({ addresses: this.fromBound(set, elements, at, low, high) }),
      }[of];
      found = { ...found, ...compared() };
    }
    return found;
  }

  /** Of a set of ranges, whose elements are in order, each is where one begins or has ended. */
  private fromBound(
    { ranges }: KernelSet,
    elements: readonly KernelElement[],
    at: number,
    low: Uint8Array,
    high: Uint8Array,
  ): AddressRange {
    if (ranges !== 'single') return this.range(low, high);
    const { first } = this.range(low, low);
    const next = elements[at + 1]?.key;
    return { first, last: next ? BigInt(hex(next)) - 1n : first };
  }
}

function fieldOf(expression: Expression, family: IpFamily): Field | undefined {
  if (expression.kind === 'meta' && expression.key === 'l4proto') return { of: 'protocol', length: 1 };
  if (expression.kind === 'ct') {
    const length = addressBits(family) / 8;
    if (expression.key === 'original daddr') return { of: 'address', length };
    if (expression.key === 'original dport') return { of: 'port', length: 2 };
    if (expression.key === 'original protocol') return { of: 'protocol', length: 1 };
  }
  if (expression.kind !== 'payload') return undefined;
  const { base, offset, length } = expression;
  if (base === 'transport') return offset === 2 ? { of: 'port', length } : undefined;
  if (offset === ADDRESSES[family].daddr) return { of: 'address', length };
  return offset === (family === 'IPv4' ? 9 : 6) ? { of: 'protocol', length: 1 } : undefined;
}

function protocolOf(number: number): Protocol | undefined {
  return (Object.keys(PROTOCOL_NUMBERS) as Protocol[]).find((name) => PROTOCOL_NUMBERS[name] === number);
}
