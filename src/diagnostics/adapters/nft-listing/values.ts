/** Types of what rules compare and sets hold, and their values as the kernel has them. */

import { PROTOCOL_NUMBERS } from '../../../domain/model/service-port-name.js';
import { parseAddress } from '../../../domain/net/address.js';
import {
  addressBytes,
  hostWord,
  interfaceBytes,
  maskBytes,
  networkHalf,
} from '../../../domain/nftables/kernel/bytes.js';
import type { KernelElement, KernelSet, KernelVerdict } from '../../../domain/nftables/kernel/ruleset.js';
import type { Tokens } from './tokens.js';

/** What kind of bytes a register or a part of a key has, by nft's names. */
export type DataType = keyof typeof LENGTHS;

/** Bytes of each type. */
export const LENGTHS = {
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
} as const;

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
  inet_proto: {
    ...Object.fromEntries(
      Object.entries(PROTOCOL_NUMBERS).map(([name, number]) => [name.toLowerCase(), number]),
    ),
    ...{ icmp: 1, 'ipv6-icmp': 58, icmpv6: 58 },
  },
};

/** Each part of a key is padded to words of four bytes. */
export function padded(length: number): number {
  return Math.ceil(length / 4) * 4;
}

/** Whether values of a type are sets of bits. A rule matches if one of its bits is set. */
export function isBitmask(type: DataType): boolean {
  return type === 'ct_state' || type === 'ct_status';
}

/** One value, or those of a network or range. */
interface Literal {
  readonly first: Uint8Array;
  readonly last: Uint8Array;
  readonly isRange: boolean;
}

/** Takes a value of this type; undefined if it is none. */
export function takeLiteral(tokens: Tokens, type: DataType | undefined): Literal | undefined {
  const { isQuoted } = tokens;
  const text = tokens.take();
  if (!type) return undefined;
  const [, address, length] = (!isQuoted && /^([\da-f.:]+)\/(\d+)$/i.exec(text)) || [];
  if (address !== undefined) {
    const bytes = valueOf(address, type);
    if (!bytes) return undefined;
    const mask = maskBytes(bytes.length, Number(length));
    return {
      first: bytes.map((byte, at) => byte & mask[at]!),
      last: bytes.map((byte, at) => byte | (~mask[at]! & 0xff)),
      isRange: true,
    };
  }
  const [, low, high] = (!isQuoted && /^([\da-f.:]*[.:][\da-f.:]*|\d+)-([\da-f.:]+)$/i.exec(text)) || [];
  const [first, last] = [valueOf(low ?? text, type), valueOf(high ?? text, type)];
  return first && last && { first, last, isRange: low !== undefined };
}

/** A single value; undefined if it is none of this type. */
export function valueOf(text: string, type: DataType): Uint8Array | undefined {
  switch (type) {
    case 'ipv4_addr':
    case 'ipv6_addr':
      return parseAddress(text)?.family === (type === 'ipv4_addr' ? 'IPv4' : 'IPv6')
        ? addressBytes(text)
        : undefined;
    case 'ifname': {
      const isPrefix = text.endsWith('*') && !text.endsWith('\\*');
      return interfaceBytes(isPrefix ? text.slice(0, -1) : text.replace('\\*', '*'), isPrefix);
    }
  }
  const parts = isBitmask(type) ? text.split(',') : [text];
  const numbers = parts.map((part) =>
    /^(?:\d+|0x[\da-f]+)$/i.test(part) ? Number(part) : NAMES[type]?.[part],
  );
  if (numbers.includes(undefined)) return undefined;
  const number = numbers.reduce<number>((sum, bit) => sum | bit!, 0);
  if (LENGTHS[type] === 1) return Uint8Array.of(number);
  return LENGTHS[type] === 2 ? networkHalf(number) : hostWord(number >>> 0);
}

const VERDICTS: ReadonlySet<string> = new Set(['accept', 'drop', 'return', 'continue']);

/** Takes a verdict, if that is what comes. */
export function takeVerdict(tokens: Tokens): KernelVerdict | undefined {
  const { next: code } = tokens;
  if (tokens.isQuoted) return undefined;
  if (VERDICTS.has(code)) return { code: tokens.take() as KernelVerdict['code'] };
  if (code !== 'jump' && code !== 'goto') return undefined;
  tokens.take();
  return { code, chain: tokens.take() };
}

/** What a set holds, and under which keys. */
export interface SetTypes {
  readonly key: readonly DataType[];
  /** Missing: it is not a map. */
  readonly value?: readonly DataType[] | 'verdict' | undefined;
}

/** A set with its elements, as the kernel would list it. */
export interface ListedSet {
  readonly set: KernelSet;
  readonly elements: readonly KernelElement[];
}

interface ListedElement extends Pick<KernelElement, 'comment' | 'value' | 'verdict'> {
  /** Missing: for all other keys. */
  readonly keys?: Literal;
}

/** Takes the elements of a set, in braces; undefined where one is not understood. */
export function takeSet(
  tokens: Tokens,
  name: string,
  { key, value }: SetTypes,
  isInterval = false,
): ListedSet | undefined {
  tokens.expect('{');
  const listed: ListedElement[] = [];
  let isUnderstood = true;
  for (skip(tokens); !tokens.takes('}'); skip(tokens)) {
    const element = takeElement(tokens, key, value);
    if (element) listed.push(element);
    else isUnderstood = false;
  }
  return isUnderstood ? setOf(name, key, listed, isInterval) : undefined;
}

/** A set with these elements. */
export function setOf(
  name: string,
  types: readonly DataType[],
  listed: readonly ListedElement[],
  isInterval: boolean,
): ListedSet {
  const lengths = types.map((type) => LENGTHS[type]);
  const isSingle = lengths.length === 1;
  const keyLength = isSingle ? lengths[0]! : lengths.reduce((sum, length) => sum + padded(length), 0);
  const hasRanges = isInterval || listed.some(({ keys }) => keys?.isRange);
  const elements = listed.flatMap(({ keys, ...rest }): readonly KernelElement[] => {
    if (!keys) return [rest];
    const { first: key, last: lastKey } = keys;
    if (!hasRanges) return [{ key, ...rest }];
    if (!isSingle) return [{ key, lastKey, ...rest }];
    const end = after(lastKey);
    return [{ key, ...rest }, ...(end ? [{ key: end, isEnd: true } as const] : [])];
  });
  return { set: { name, keyLength, ...(hasRanges && { ranges: isSingle ? 'single' : lengths }) }, elements };
}

function takeElement(
  tokens: Tokens,
  types: readonly DataType[],
  values: SetTypes['value'],
): ListedElement | undefined {
  const isForOthers = tokens.next === '*';
  const keys = takeConcatenation(tokens, types);
  const { comment } = takeOptions(tokens);
  const rest = comment === undefined ? {} : { comment };
  const isMapped = tokens.takes(':');
  const verdict = isMapped ? takeVerdict(tokens) : undefined;
  const value =
    isMapped && !verdict ? takeConcatenation(tokens, values === 'verdict' ? [] : (values ?? [])) : undefined;
  if (value) takeOptions(tokens);
  if (!(keys || isForOthers)) return undefined;
  if (values !== undefined && !(values === 'verdict' ? verdict : value)) return undefined;
  return {
    ...(keys && { keys }),
    ...rest,
    ...(values !== undefined && (verdict ? { verdict } : { value: value!.first })),
  };
}

/** Takes parts that are joined by dots, of these types; undefined if one is none, or if their number is another. */
export function takeConcatenation(tokens: Tokens, types: readonly DataType[]): Literal | undefined {
  const parts: (Literal | undefined)[] = [];
  do parts.push(takeLiteral(tokens, types[parts.length]));
  while (tokens.takes('.'));
  if (parts.length !== types.length || parts.includes(undefined)) return undefined;
  const known = parts as readonly Literal[];
  if (known.length === 1) return known[0];
  return {
    first: joined(known.map(({ first }) => first)),
    last: joined(known.map(({ last }) => last)),
    isRange: known.some(({ isRange }) => isRange),
  };
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + padded(part.length), 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += padded(part.length);
  }
  return bytes;
}

/** Takes `timeout 10m`, `expires 3s`, `comment "…"`, `counter packets 1 bytes 2` behind an element. */
export function takeOptions(tokens: Tokens): { readonly comment?: string; readonly timeout?: number } {
  let options: { readonly comment?: string; readonly timeout?: number } = {};
  for (;;) {
    while (tokens.takes('\n')) continue;
    if (tokens.takes('timeout')) options = { ...options, timeout: secondsIn(tokens.take()) };
    else if (tokens.takes('expires')) tokens.take();
    else if (tokens.takes('comment')) options = { ...options, comment: tokens.take() };
    else if (tokens.takes('counter')) for (let word = 0; word < 4; word++) tokens.take();
    else return options;
  }
}

const UNITS: Readonly<Record<string, number>> = { d: 86400, h: 3600, m: 60, s: 1, ms: 0.001 };

/** `1h30m`, `10s`. */
export function secondsIn(text: string): number {
  return [...text.matchAll(/(\d+)(ms|[dhms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * UNITS[unit!]!,
    0,
  );
}

function skip(tokens: Tokens): void {
  while (tokens.takes(',') || tokens.takes('\n')) continue;
}

/** The next value after these bytes; undefined if they are the last. */
function after(bytes: Uint8Array): Uint8Array | undefined {
  const next = Uint8Array.from(bytes);
  for (let at = next.length - 1; at >= 0; at--) {
    next[at] = next[at]! + 1;
    if (next[at] !== 0) return next;
  }
  return undefined;
}
