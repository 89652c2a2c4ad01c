/** Encodes values and set elements that nft lists as the bytes that the kernel has. */

import { hostWord, networkHalf, addressBytes } from '../../../domain/nftables/kernel/bytes.js';
import { PROTOCOL_NUMBERS } from '../../../domain/model/service-port-name.js';
import { parseAddress } from '../../../domain/net/address.js';
import { rangeOf, type AddressRange } from '../../domain/compare/address-ranges.js';
import { parseCidr } from '../../../domain/net/cidr.js';
import { held, type Value, kindOf } from './listing.js';
import type { KernelVerdict, KernelElement, KernelSet } from '../../../domain/nftables/kernel/ruleset.js';

/** What kind of bytes a register or a part of a key has, by nft's names. */
export type DataType =
  | 'ipv4_addr'
  | 'ipv6_addr'
  | 'inet_proto'
  | 'inet_service'
  | 'mark'
  | 'ifname'
  | 'ct_state'
  | 'ct_status'
  | 'ct_dir'
  | 'fib_addrtype'
  | 'nf_proto'
  | 'ether_type'
  | 'number';

/** Bytes of each type. */
export const LENGTHS: Readonly<Record<DataType, number>> = {
  ipv4_addr: 4,
  ipv6_addr: 16,
  inet_proto: 1,
  inet_service: 2,
  mark: 4,
  ifname: 16,
  ct_state: 4,
  ct_status: 4,
  ct_dir: 1,
  fib_addrtype: 4,
  nf_proto: 1,
  ether_type: 2,
  number: 4,
};

const NAMES: Partial<Readonly<Record<DataType, Readonly<Record<string, number>>>>> = {
  ct_state: { invalid: 1, established: 2, related: 4, new: 8, untracked: 64 },
  ct_status: { expected: 1, 'seen-reply': 2, assured: 4, confirmed: 8, snat: 16, dnat: 32 },
  ct_dir: { original: 0, reply: 1 },
  fib_addrtype: {
    unicast: 1,
    local: 2,
    broadcast: 3,
    anycast: 4,
    multicast: 5,
    blackhole: 6,
    unreachable: 7,
  },
  nf_proto: { ipv4: 2, ipv6: 10 },
  ether_type: { ip: 0x0800, ip6: 0x86dd },
  inet_proto: { ...lowered(PROTOCOL_NUMBERS), icmp: 1, 'ipv6-icmp': 58, icmpv6: 58 },
};

function lowered(numbers: Readonly<Record<string, number>>): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(numbers).map(([name, number]) => [name.toLowerCase(), number]));
}

/** Whether values of a type are sets of bits, of which rules ask for one. */
export function isBitmask(type: DataType): boolean {
  return type === 'ct_state' || type === 'ct_status';
}

/** A value as the kernel has it; undefined if it is not one of this type. */
export function encoded(value: Value, type: DataType): Uint8Array | undefined {
  if (Array.isArray(value)) return joined(value, type);
  switch (type) {
    case 'ipv4_addr':
    case 'ipv6_addr':
      return parseAddress(value)?.family === (type === 'ipv4_addr' ? 'IPv4' : 'IPv6')
        ? addressBytes(value as string)
        : undefined;
    case 'ifname':
      return typeof value === 'string' ? nameBytes(value) : undefined;
  }
  const number = typeof value === 'number' ? value : NAMES[type]?.[String(value)];
  if (number === undefined) return undefined;
  if (LENGTHS[type] === 1) return Uint8Array.of(number);
  return LENGTHS[type] === 2 ? networkHalf(number) : hostWord(number >>> 0);
}

/** Several names of bits. */
function joined(values: readonly Value[], type: DataType): Uint8Array | undefined {
  const each = values.map((value) => NAMES[type]?.[String(value)]);
  return each.includes(undefined) ? undefined : hostWord(each.reduce<number>((sum, bit) => sum | bit!, 0));
}

const NAME_LENGTH = 16;

/** All 16 bytes, but of `veth*` only those of the beginning. */
function nameBytes(name: string): Uint8Array {
  const isPrefix = name.endsWith('*') && !name.endsWith('\\*');
  const text = isPrefix ? name.slice(0, -1) : name.replace('\\*', '*');
  const bytes = new TextEncoder().encode(text);
  if (isPrefix) return bytes;
  const whole = new Uint8Array(NAME_LENGTH);
  whole.set(bytes);
  return whole;
}

/** First and last value of a network or range; undefined for anything else. */
export function bounds(value: Value, type: DataType): readonly [Uint8Array, Uint8Array] | undefined {
  const prefix = held<{ readonly addr: string; readonly len: number }>(value, 'prefix');
  if (prefix) {
    const cidr = parseCidr(`${prefix.addr}/${prefix.len}`);
    return cidr && addressBounds(rangeOf(cidr), LENGTHS[type]);
  }
  const [low, high] = held<readonly Value[]>(value, 'range') ?? [];
  const [first, last] = [encoded(low, type), encoded(high, type)];
  return first && last && [first, last];
}

function addressBounds({ first, last }: AddressRange, length: number): readonly [Uint8Array, Uint8Array] {
  return [numberBytes(first, length)!, numberBytes(last, length)!];
}

/** The next value after these bytes; undefined if they are the last. */
function after(bytes: Uint8Array): Uint8Array | undefined {
  const number = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n) + 1n;
  return numberBytes(number, bytes.length);
}

function numberBytes(number: bigint, length: number): Uint8Array | undefined {
  if (number >> BigInt(8 * length) !== 0n) return undefined;
  return Uint8Array.from({ length }, (_, at) => Number((number >> BigInt(8 * (length - 1 - at))) & 0xffn));
}

/** A set with its elements, as the kernel would list it. */
interface CompiledSet {
  readonly set: KernelSet;
  readonly elements: readonly KernelElement[];
}

/**
 * A set of these types of keys and values.
 * @param values undefined: a set; `verdict`: a verdict map
 * @returns undefined where an element is not understood
 */
export function compileSet(
  name: string,
  types: readonly DataType[],
  values: readonly DataType[] | 'verdict' | undefined,
  listed: readonly Value[],
  isInterval: boolean,
): CompiledSet | undefined {
  const keyLength =
    types.length === 1 ? LENGTHS[types[0]!] : types.reduce((sum, type) => sum + padded(LENGTHS[type]), 0);
  const hasRanges = isInterval || listed.some((each) => rangesOf(keyOf(each)));
  const lengths = types.map((type) => LENGTHS[type]);
  const ranges = types.length === 1 ? ('single' as const) : lengths;
  const set: KernelSet = { name, keyLength, ...(hasRanges && { ranges }) };
  const elements: KernelElement[] = [];
  for (const each of listed) {
    const rest = values === undefined ? {} : valueOf(Array.isArray(each) ? each[1] : undefined, values);
    const keys = elementKeys(keyOf(each), types);
    if (!rest || !keys) return undefined;
    const comment = held<{ readonly comment?: string }>(
      Array.isArray(each) ? each[0] : each,
      'elem',
    )?.comment;
    const more = { ...rest, ...(comment !== undefined && { comment }) };
    if (keys === 'others') elements.push(more);
    else if (!hasRanges) elements.push({ key: keys[0], ...more });
    else if (ranges === 'single') {
      const end = after(keys[1]);
      elements.push({ key: keys[0], ...more }, ...(end ? [{ key: end, isEnd: true } as const] : []));
    } else elements.push({ key: keys[0], lastKey: keys[1], ...more });
  }
  return { set, elements };
}

/** The key of an element, without what else is said of it. */
function keyOf(element: Value): Value {
  const key: Value = Array.isArray(element) ? element[0] : element;
  return held<{ readonly val: Value }>(key, 'elem')?.val ?? key;
}

function rangesOf(key: Value): boolean {
  const parts = held<readonly Value[]>(key, 'concat') ?? [key];
  return parts.some((part) => ['prefix', 'range'].includes(kindOf(part) ?? ''));
}

/** First and last key. */
function elementKeys(
  key: Value,
  types: readonly DataType[],
): readonly [Uint8Array, Uint8Array] | 'others' | undefined {
  if (key === '*') return 'others';
  const parts = held<readonly Value[]>(key, 'concat') ?? [key];
  if (parts.length !== types.length) return undefined;
  const limits = parts.map((part, at) => {
    const one = bounds(part, types[at]!);
    const exact = one ? undefined : encoded(part, types[at]!);
    return one ?? (exact && ([exact, exact] as const));
  });
  const whole = limits.flatMap((limit) => (limit ? [limit] : []));
  if (whole.length < limits.length) return undefined;
  if (types.length === 1) return whole[0];
  return [concatenatedKey(whole.map(([first]) => first)), concatenatedKey(whole.map(([, last]) => last))];
}

/** Each part is padded to words of four bytes. */
function concatenatedKey(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + padded(part.length), 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += padded(part.length);
  }
  return bytes;
}

export function padded(length: number): number {
  return Math.ceil(length / 4) * 4;
}

function valueOf(
  value: Value,
  types: readonly DataType[] | 'verdict',
): Pick<KernelElement, 'value' | 'verdict'> | undefined {
  if (types === 'verdict') {
    const verdict = verdictOf(value);
    return verdict && { verdict };
  }
  const parts = held<readonly Value[]>(value, 'concat') ?? [value];
  const bytes = parts.map((part, at) => (types[at] ? encoded(part, types[at]) : undefined));
  const known = bytes.flatMap((part) => (part ? [part] : []));
  if (known.length < types.length) return undefined;
  return { value: types.length === 1 ? known[0]! : concatenatedKey(known) };
}

const CODES: ReadonlySet<string> = new Set(['drop', 'accept', 'return', 'continue', 'jump', 'goto', 'queue']);

/** `{ "drop": null }`, `{ "goto": { "target": … } }`. */
export function verdictOf(value: Value): KernelVerdict | undefined {
  const code = kindOf(value) ?? '';
  if (!CODES.has(code)) return undefined;
  const chain = held<{ readonly target: string }>(held(value, code), 'target') as unknown;
  return { code: code as KernelVerdict['code'], ...(typeof chain === 'string' && { chain }) };
}
