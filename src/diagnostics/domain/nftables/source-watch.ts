import { getOrMake } from '../../../domain/model/maps.js';
import type { AddressRange } from '../compare/address-ranges.js';
import { addressBits } from '../../../domain/net/cidr.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { Watch } from '../walk/packet-state.js';
import { byteText, hex } from '../../../domain/nftables/kernel/bytes.js';
import { hashesPort } from './draws.js';
import type { Expression, KernelElement, KernelSet } from '../../../domain/nftables/kernel/ruleset.js';
import type { ListedRule } from './listed-rule.js';
import { ADDRESSES } from '../../../domain/nftables/layout/table.js';

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;

/** The sets whose elements a source may be among. */
export interface WatchedSets {
  /** All elements of a set, but those that packets put there. */
  readonly elements: (set: KernelSet) => readonly KernelElement[];
  /** Whether packets fill the set. */
  readonly isDynamic: (set: KernelSet) => boolean;
}

/** Reports the comparison of an expression to a watch; the registers are those before it. */
export type Comparison = (watch: Watch, registers: Uint8Array) => void;

/** The walk passes them over, though later packets, or the translation of this one, may depend on them. */
const DECIDING: ReadonlySet<string> = new Set(['quota', 'notrack']);
/** The destination port, and where TCP has its flags. */
const KNOWN_OF_TRANSPORT: readonly number[] = [2, 3, 12, 13];

/** By the places of a rule's expressions. Missing entries report nothing. */
export type Comparisons = readonly (Comparison | undefined)[];

const NOTHING: Comparisons = [];

/** Collects the comparisons of rules with the source of packets of a family, and with the interface that they came in through. */
export class SourceWatch {
  private readonly known = new Map<ListedRule, Comparisons>();

  constructor(
    private readonly family: IpFamily,
    private readonly sets: WatchedSets,
  ) {}

  comparisonsOf(rule: ListedRule): Comparisons {
    return getOrMake(this.known, rule, () => {
      const reader = new RuleReader(rule, this.family, this.sets);
      const comparisons = rule.expressions.map((expression) => reader.read(expression));
      return comparisons.some((comparison) => comparison) ? comparisons : NOTHING;
    });
  }
}

/** Follows the source through the registers of a rule. */
class RuleReader {
  private readonly source: SourcePlace;
  private origins = NO_ORIGINS;

  constructor(
    private readonly rule: ListedRule,
    private readonly family: IpFamily,
    private readonly sets: WatchedSets,
  ) {
    this.source = { offset: ADDRESSES[family].saddr, length: addressBits(family) / 8 };
  }

  /** The comparison of the next expression. */
  read(expression: Expression): Comparison | undefined {
    const comparison = this.comparisonOf(expression);
    this.origins = originsAfter(expression, this.origins, this.source);
    return comparison;
  }

  private comparisonOf(expression: Expression): Comparison | undefined {
    switch (expression.kind) {
      case 'cmp':
      case 'range':
        return this.compared(expression);
      case 'lookup':
        return this.lookedUp(expression);
      case 'payload':
        return this.isKnown(expression) ? undefined : this.unclear('a field of the header');
      case 'meta':
        return expression.key === 'iif' ? this.unclear('the number of an interface') : undefined;
      case 'byteorder': {
        const { from, length } = expression;
        return touches(this.origins, from, length)
          ? this.unclear('a part of the source in another order')
          : undefined;
      }
      case 'hash': {
        // What the source port, which may be any, is a part of may be any number for every source.
        const { from, length } = expression;
        const dependsOnSource =
          touches(this.origins, from, length) && !hashesPort(expression, this.rule.expressions);
        return dependsOnSource ? this.unclear('a hash of the source') : undefined;
      }
      case 'limit':
        return this.unclear('a limit');
      case 'indifferent':
        return DECIDING.has(expression.name) ? this.unclear(expression.name) : undefined;
      default:
        return undefined;
    }
  }

  private compared(expression: Of<'cmp' | 'range'>): Comparison | undefined {
    const { origins } = this;
    const { from } = expression;
    const [first, last] =
      expression.kind === 'cmp' ? [expression.value, expression.value] : [expression.first, expression.last];
    if (!touches(origins, from, first.length)) return undefined;
    if (origins.get(from)?.of === 'interface') {
      const name = interfacePattern(first);
      return (watch) => watch.inputInterface(name);
    }
    const bits = prefixAt(origins, from, first.length);
    if (bits === undefined) return this.unclear('some bits of the source');
    const low = this.number(first) & ~this.lower(bits);
    const high = this.number(last) | this.lower(bits);
    if (expression.kind === 'range' || expression.op === '==' || expression.op === '!=')
      return comparedWith({ first: low, last: high });
    // All up to the value, or all before it.
    if (bits < addressBits(this.family)) return this.unclear('the order of a part of the source');
    const isUpTo = expression.op === '<=' || expression.op === '>';
    return isUpTo || low > 0n ? comparedWith({ first: 0n, last: isUpTo ? low : low - 1n }) : undefined;
  }

  /** For which sources it would find another element, or none. */
  private lookedUp({ set: name, from }: Of<'lookup'>): Comparison | undefined {
    const { origins } = this;
    const set = this.rule.table.sets.get(name);
    if (!set || this.sets.isDynamic(set) || !touches(origins, from, set.keyLength)) return undefined;
    let at = 0;
    while (!origins.has(from + at)) at++;
    if (origins.get(from + at)!.of === 'interface') return this.lookedUpName(set, at);
    const { length } = this.source;
    const bits = prefixAt(origins, from + at, length);
    if (bits === undefined || (set.ranges !== undefined && bits < addressBits(this.family)))
      return this.unclear(`a part of the source in set ${set.name}`);
    const place = { at, length, others: this.lower(bits) };
    let find: FindRanges | undefined;
    return (watch, registers) => {
      find ??= sourceRanges(set, this.sets.elements(set), place);
      for (const range of find(registers.subarray(from, from + set.keyLength))) watch.source(range);
    };
  }

  private lookedUpName(set: KernelSet, at: number): Comparison {
    return (watch) => {
      for (const { key } of this.sets.elements(set))
        if (key) watch.inputInterface(interfacePattern(key.subarray(at)));
    };
  }

  private unclear(what: string): Comparison {
    const { rule } = this;
    return (watch) => watch.unclear(`${rule.where}: ${rule.rule} looks at ${what}`);
  }

  /** Whether all bytes are the same in all first packets that a walk stands for: addresses, protocol, destination port, flags. */
  private isKnown({ base, offset, length }: Of<'payload'>): boolean {
    const protocol = this.family === 'IPv4' ? 9 : 6;
    for (let byte = offset; byte < offset + length; byte++) {
      const isKnown =
        base === 'transport'
          ? KNOWN_OF_TRANSPORT.includes(byte)
          : byte >= this.source.offset || byte === protocol;
      if (!isKnown) return false;
    }
    return true;
  }

  private number(bytes: Uint8Array): bigint {
    const whole = new Uint8Array(this.source.length);
    whole.set(bytes.subarray(0, this.source.length));
    return BigInt(hex(whole));
  }

  private lower(bits: number): bigint {
    return (1n << BigInt(addressBits(this.family) - bits)) - 1n;
  }
}

function comparedWith(range: AddressRange): Comparison {
  return (watch) => watch.source(range);
}

function interfacePattern(bytes: Uint8Array): string {
  const end = bytes.indexOf(0);
  const name = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
  return end < 0 && bytes.length < INTERFACE_NAME_LENGTH ? `${name}+` : name;
}

/** Where the source is in the keys of a set. */
export interface SourceInKey {
  readonly at: number;
  readonly length: number;
  /** The bits that were masked out, which may be anything. */
  readonly others: bigint;
}

/** Sources that a look-up distinguishes, by its key. */
export type FindRanges = (key: Uint8Array) => readonly AddressRange[];

/** The sources of those elements which a key finds, apart from its own source. */
function sourceRanges(
  { ranges }: KernelSet,
  elements: readonly KernelElement[],
  place: SourceInKey,
): FindRanges {
  if (ranges === undefined) {
    const found = byRestOfKey(elements, place);
    return (key) => found.get(restOf(key, place)) ?? NONE;
  }
  const { at, length } = place;
  const part = (bytes: Uint8Array) => BigInt(hex(bytes.subarray(at, at + length)));
  // Those that another part of the key rules out make the classes finer than they need to be, and nothing else.
  const all =
    ranges === 'single'
      ? betweenBounds(elements, part)
      : elements.flatMap(({ key, lastKey = key }) =>
          key ? [{ first: part(key), last: part(lastKey!) }] : [],
        );
  return () => all;
}

const NONE: readonly AddressRange[] = [];

type ByRestOfKey = Map<string, AddressRange[]>;

/** By set and place: several rules may look there. */
const BY_REST = new WeakMap<readonly KernelElement[], Map<string, ByRestOfKey>>();

/** The sources of elements whose keys are the same otherwise. */
function byRestOfKey(elements: readonly KernelElement[], place: SourceInKey): ByRestOfKey {
  const { at, length, others } = place;
  const places = getOrMake(BY_REST, elements, () => new Map<string, ByRestOfKey>());
  return getOrMake(places, `${at} ${others}`, () => {
    const found: ByRestOfKey = new Map();
    for (const { key } of elements)
      if (key) {
        const first = BigInt(hex(key.subarray(at, at + length)));
        getOrMake(found, restOf(key, place), () => []).push({ first, last: first | others });
      }
    return found;
  });
}

function restOf(key: Uint8Array, { at, length }: SourceInKey): string {
  return byteText(Uint8Array.from(key).fill(0, at, at + length));
}

/** What lies from where a range begins to before the next bound. */
function betweenBounds(
  elements: readonly KernelElement[],
  part: (bytes: Uint8Array) => bigint,
): readonly AddressRange[] {
  const bounds = elements.filter(({ key }) => key !== undefined);
  return bounds.flatMap(({ key, isEnd }, at) => {
    const next = bounds[at + 1]?.key;
    return isEnd ? [] : [{ first: part(key!), last: next ? part(next) - 1n : LAST_NUMBER }];
  });
}

/** Above all addresses. */
const LAST_NUMBER = 1n << 128n;

/** What a byte of a register was made of: a byte of the source, masked, or of the interface's name. */
export interface Origin {
  readonly of: 'source' | 'interface';
  readonly byte: number;
  readonly mask: number;
}

/** By byte of the registers. Missing: it was made of neither. */
export type Origins = ReadonlyMap<number, Origin>;

const NO_ORIGINS: Origins = new Map();

const INTERFACE_NAME_LENGTH = 16;

/** Where the packet's source is in its header. */
export interface SourcePlace {
  readonly offset: number;
  readonly length: number;
}

/** What the registers hold after an expression. */
function originsAfter(expression: Expression, origins: Origins, source: SourcePlace): Origins {
  switch (expression.kind) {
    case 'payload':
      return loaded(expression, origins, source);
    case 'meta': {
      const { key, to } = expression;
      return key === 'iifname'
        ? written(origins, to, INTERFACE_NAME_LENGTH, 'interface')
        : written(origins, to, 4);
    }
    case 'ct':
      return expression.key === 'original saddr'
        ? written(origins, expression.to, source.length, 'source')
        : written(origins, expression.to, 16);
    case 'bitwise':
      return masked(expression, origins);
    case 'byteorder':
      return written(origins, expression.to, expression.length);
    case 'immediate':
      return written(origins, expression.to, expression.value.length);
    case 'fib':
    case 'random':
      return written(origins, expression.to, 4);
    default:
      return origins;
  }
}

/** Whether some byte there was made of the source or the interface. */
function touches(origins: Origins, from: number, length: number): boolean {
  for (let at = from; at < from + length; at++) if (origins.has(at)) return true;
  return false;
}

/** How many bits of the source, from its first, stand there and nothing else; undefined if it is not that. */
function prefixAt(origins: Origins, from: number, length: number): number | undefined {
  let bits = 0;
  let isOver = false;
  for (let byte = 0; byte < length; byte++) {
    const origin = origins.get(from + byte);
    if (origin?.of !== 'source' || origin.byte !== byte) return undefined;
    const ones = PREFIXES.indexOf(origin.mask);
    if (ones < 0 || (isOver && ones > 0)) return undefined;
    isOver ||= ones < 8;
    bits += ones;
  }
  return bits;
}

const PREFIXES: readonly number[] = [0, 0x80, 0xc0, 0xe0, 0xf0, 0xf8, 0xfc, 0xfe, 0xff];

function loaded(
  { to, base, offset, length }: Extract<Expression, { kind: 'payload' }>,
  origins: Origins,
  source: SourcePlace,
): Origins {
  const left = new Map(written(origins, to, length));
  for (let at = 0; at < length; at++) {
    const byte = offset + at - source.offset;
    if (base === 'network' && byte >= 0 && byte < source.length)
      left.set(to + at, { of: 'source', byte, mask: 0xff });
  }
  return left;
}

/** The registers without what was in whole words of them, and with an origin there if one is given. */
function written(origins: Origins, to: number, length: number, of?: Origin['of']): Origins {
  if (origins.size === 0 && of === undefined) return origins;
  const left = new Map(origins);
  for (let byte = 0; byte < Math.ceil(length / 4) * 4; byte++) left.delete(to + byte);
  if (of !== undefined)
    for (let byte = 0; byte < length; byte++) left.set(to + byte, { of, byte, mask: 0xff });
  return left;
}

function masked({ from, to, mask }: Extract<Expression, { kind: 'bitwise' }>, origins: Origins): Origins {
  if (origins.size === 0) return origins;
  const left = new Map(written(origins, to, mask.length));
  mask.forEach((bits, at) => {
    const origin = origins.get(from + at);
    if (origin) left.set(to + at, { ...origin, mask: origin.mask & bits });
  });
  return left;
}
