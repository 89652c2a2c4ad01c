import { hex } from './bytes.js';
import { ADDRESSES } from './packet-bytes.js';
import { addressBits } from '../../net/cidr.js';
import type { AddressRange } from '../../net/address-ranges.js';
import type { IpFamily } from '../../net/ip-family.js';
import type { Place } from '../../walk/course.js';
import type { Watch } from '../../walk/watch.js';
import { getOrMake } from '../../model/get-or-make.js';
import type { Expression } from './expression.js';
import type { KernelElement, KernelSet } from './ruleset.js';

/** What a byte of a register was made of: a byte of the source, masked, or of the interface's name. Zero: of neither. */
interface Origin {
  readonly of: 'source' | 'interface';
  readonly byte: number;
  readonly mask: number;
}

/** By byte of the registers. */
export type Origins = ReadonlyMap<number, Origin>;

export const NO_ORIGINS: Origins = new Map();

type Of<Kind extends Expression['kind']> = Extract<Expression, { kind: Kind }>;

/** All elements of a set, for the look-ups whose answer depends on the source. */
export type ListElements = (set: KernelSet) => readonly KernelElement[];

const INTERFACE_NAME_LENGTH = 16;
/** The walk passes them over, though later packets, or the translation of this one, may depend on them. */
const DECIDING: ReadonlySet<string> = new Set(['quota', 'notrack']);
/** The destination port, and where TCP has its flags. */
const KNOWN_OF_TRANSPORT: readonly number[] = [2, 3, 12, 13];

/** Follows the source of a packet through registers, and tells a watch what it is compared with. */
export class SourceWatch {
  /** The rule whose expressions these are. */
  place: Place | undefined;
  private readonly sourceLength: number;
  private readonly sourceOffset: number;

  constructor(
    private readonly family: IpFamily,
    private readonly watch: Watch,
    private readonly elements: ListElements,
  ) {
    this.sourceLength = addressBits(family) / 8;
    this.sourceOffset = ADDRESSES[family].saddr;
  }

  /** What the registers hold after an expression. */
  after(expression: Expression, origins: Origins): Origins {
    switch (expression.kind) {
      case 'payload':
        return this.payload(expression, origins);
      case 'meta': {
        const { key, to } = expression;
        if (key === 'iifname') return written(origins, to, INTERFACE_NAME_LENGTH, 'interface');
        if (key === 'iif') this.unclear('the number of an interface');
        return written(origins, to, 4);
      }
      case 'ct':
        return expression.key === 'original saddr'
          ? written(origins, expression.to, this.sourceLength, 'source')
          : written(origins, expression.to, 16);
      case 'bitwise':
        return masked(expression, origins);
      case 'byteorder': {
        if (this.touches(origins, expression.from, expression.length))
          this.unclear('a part of the source in another order');
        return written(origins, expression.to, expression.length);
      }
      case 'immediate':
        return written(origins, expression.to, expression.value.length);
      case 'fib':
      case 'random':
        return written(origins, expression.to, 4);
      case 'limit':
        this.unclear('a limit');
        return origins;
      case 'indifferent':
        if (DECIDING.has(expression.name)) this.unclear(expression.name);
        return origins;
      default:
        return origins;
    }
  }

  /** Tells what an expression compares. */
  compared(expression: Of<'cmp' | 'range'>, origins: Origins): void {
    const { from } = expression;
    const [first, last] =
      expression.kind === 'cmp' ? [expression.value, expression.value] : [expression.first, expression.last];
    if (!this.touches(origins, from, first.length)) return;
    if (origins.get(from)?.of === 'interface') return this.comparedName(first);
    const bits = this.prefixAt(origins, from, first.length);
    if (bits === undefined) return this.unclear('some bits of the source');
    const low = this.number(first) & this.upper(bits);
    const high = this.number(last) | this.lower(bits);
    if (expression.kind === 'range' || expression.op === '==' || expression.op === '!=')
      return this.watch.source({ first: low, last: high });
    // All up to the value, or all before it.
    if (bits < addressBits(this.family)) return this.unclear('the order of a part of the source');
    const isUpTo = expression.op === '<=' || expression.op === '>';
    if (isUpTo || low > 0n) this.watch.source({ first: 0n, last: isUpTo ? low : low - 1n });
  }

  /** Tells for which sources a look-up would find another element, or none. */
  lookedUp({ from }: Of<'lookup'>, set: KernelSet, key: Uint8Array, origins: Origins): void {
    if (!this.touches(origins, from, key.length)) return;
    const at = [...key.keys()].find((byte) => origins.has(from + byte))!;
    if (origins.get(from + at)!.of === 'interface') {
      for (const { key: name } of this.elements(set)) if (name) this.comparedName(name.subarray(at));
      return;
    }
    const bits = this.prefixAt(origins, from + at, this.sourceLength);
    if (bits === undefined || (set.ranges !== undefined && bits < addressBits(this.family)))
      return this.unclear(`a part of the source in set ${set.name}`);
    const place = { at, length: this.sourceLength, others: this.lower(bits) };
    for (const range of rangesIn(set, this.elements(set), key, place)) this.watch.source(range);
  }

  private unclear(what: string): void {
    const { where, rule } = this.place ?? { where: '', rule: '' };
    this.watch.unclear(`${where}: ${rule} looks at ${what}`);
  }

  private payload({ to, base, offset, length }: Of<'payload'>, origins: Origins): Origins {
    const left = new Map(written(origins, to, length));
    for (let byte = 0; byte < length; byte++) {
      const source = offset + byte - this.sourceOffset;
      if (base === 'network' && source >= 0 && source < this.sourceLength)
        left.set(to + byte, { of: 'source', byte: source, mask: 0xff });
      else if (!this.isKnown(base, offset + byte)) this.unclear('a field of the header');
    }
    return left;
  }

  /** Whether a byte is the same in all first packets that a walk stands for: addresses, protocol, destination port, flags. */
  private isKnown(base: 'network' | 'transport', byte: number): boolean {
    if (base === 'transport') return KNOWN_OF_TRANSPORT.includes(byte);
    const protocol = this.family === 'IPv4' ? 9 : 6;
    return byte >= this.sourceOffset || byte === protocol;
  }

  private touches(origins: Origins, from: number, length: number): boolean {
    if (origins.size === 0) return false;
    for (let at = from; at < from + length; at++) if (origins.has(at)) return true;
    return false;
  }

  /** How many bits of the source, from its first, stand there and nothing else; undefined if it is not that. */
  private prefixAt(origins: Origins, from: number, length: number): number | undefined {
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

  private number(bytes: Uint8Array): bigint {
    const whole = new Uint8Array(this.sourceLength);
    whole.set(bytes.subarray(0, this.sourceLength));
    return BigInt(hex(whole));
  }

  private lower(bits: number): bigint {
    return (1n << BigInt(addressBits(this.family) - bits)) - 1n;
  }

  private upper(bits: number): bigint {
    return ~this.lower(bits);
  }

  private comparedName(bytes: Uint8Array): void {
    const end = bytes.indexOf(0);
    const name = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
    this.watch.inputInterface(end < 0 && bytes.length < INTERFACE_NAME_LENGTH ? `${name}+` : name);
  }
}

const PREFIXES: readonly number[] = [0, 0x80, 0xc0, 0xe0, 0xf0, 0xf8, 0xfc, 0xfe, 0xff];

/** The registers without what was in whole words of them, and with an origin there if one is given. */
function written(origins: Origins, to: number, length: number, of?: Origin['of']): Origins {
  if (origins.size === 0 && of === undefined) return origins;
  const left = new Map(origins);
  for (let byte = 0; byte < Math.ceil(length / 4) * 4; byte++) left.delete(to + byte);
  if (of !== undefined)
    for (let byte = 0; byte < length; byte++) left.set(to + byte, { of, byte, mask: 0xff });
  return left;
}

function masked({ from, to, mask }: Of<'bitwise'>, origins: Origins): Origins {
  if (origins.size === 0) return origins;
  const left = new Map(written(origins, to, mask.length));
  mask.forEach((bits, at) => {
    const origin = origins.get(from + at);
    if (origin) left.set(to + at, { ...origin, mask: origin.mask & bits });
  });
  return left;
}

/** Where the source is in a key. */
interface SourcePlace {
  readonly at: number;
  readonly length: number;
  /** The bits that were masked out, which may be anything. */
  readonly others: bigint;
}

/** By set and place: sources of the elements whose keys are the same otherwise. */
const SOURCES = new WeakMap<readonly KernelElement[], Map<string, ReadonlyMap<string, AddressRange[]>>>();

/** The sources of those elements which a key finds, apart from its own source. */
function rangesIn(
  set: KernelSet,
  elements: readonly KernelElement[],
  key: Uint8Array,
  { at, length, others }: SourcePlace,
): readonly AddressRange[] {
  const part = (bytes: Uint8Array) => BigInt(hex(bytes.subarray(at, at + length)));
  if (set.ranges === 'single') return steps(elements, part);
  if (set.ranges !== undefined)
    // Those that another part of the key rules out make the classes finer than they need to be, and nothing else.
    return elements.flatMap((element) =>
      element.key ? [{ first: part(element.key), last: part(element.lastKey ?? element.key) }] : [],
    );
  const rest = (bytes: Uint8Array) => `${hex(bytes.subarray(0, at))} ${hex(bytes.subarray(at + length))}`;
  const places = getOrMake(SOURCES, elements, () => new Map<string, ReadonlyMap<string, AddressRange[]>>());
  const byRest = getOrMake(places, `${at} ${others}`, () => {
    const found = new Map<string, AddressRange[]>();
    for (const element of elements)
      if (element.key) {
        const number = part(element.key);
        getOrMake(found, rest(element.key), () => []).push({ first: number, last: number | others });
      }
    return found;
  });
  return byRest.get(rest(key)) ?? [];
}

/** What lies from where a range begins to before the next bound. */
function steps(
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
