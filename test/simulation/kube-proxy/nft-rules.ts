import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { verdict, type RawAttributes, type RawExpression } from '../kernel/nf-tables/foreign-batch.js';
import { DATA } from '../kernel/nf-tables/numbers.js';

/* Expressions of rules, as `nft` makes them of kube-proxy's texts. A value that is looked up begins in the first register. */

/** NFT_REG32_00, where each register has four bytes. */
const FIRST = 8;
const NETWORK = 1;
const TRANSPORT = 2;
/** Of the addresses in the header of a packet: where the source begins, and its length. */
const ADDRESS = { IPv4: { source: 12, length: 4 }, IPv6: { source: 8, length: 16 } } as const;
const FAMILY = { IPv4: 2, IPv6: 10 } as const;
const META = { MARK: 3, L4PROTO: 16 } as const;
const CT = { STATE: 0, STATUS: 2 } as const;
const NEW = 8;
const DESTINATION_TRANSLATED = 0x20;
const ADDRESS_TYPE = 3;
const LOCAL = 2;
const EQUAL = 0;
const NOT_EQUAL = 1;
const RANDOM = 1;
const FULLY_RANDOM = 0x10;
const UPDATE = 1;
const MARK = 0x4000;

type Rule = readonly RawExpression[];

/** @param attributes by their types, undefined for those that are left out */
function expression(
  name: string,
  attributes: Readonly<Record<number, RawAttributes[number]['value'] | undefined>>,
): RawExpression {
  const given = Object.entries(attributes).map(([type, its]) => ({ type: Number(type), value: its }));
  return { name, attributes: given.filter(({ value: its }) => its !== undefined) as RawAttributes };
}
const value = (bytes: Buffer) => [{ type: DATA.VALUE, value: bytes }];

/** Bytes of a number as registers have it. */
function word(number: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number >>> 0);
  return bytes;
}

function payload(base: number, offset: number, length: number, to: number): RawExpression {
  return expression('payload', { 1: to, 2: base, 3: offset, 4: length });
}

const load = (name: 'meta' | 'ct', key: number, to = FIRST): RawExpression =>
  expression(name, { 1: to, 2: key });

const setMark = expression('meta', { 2: META.MARK, 3: FIRST });

const compare = (operator: number, bytes: Buffer): RawExpression =>
  expression('cmp', { 1: FIRST, 2: operator, 3: value(bytes) });

const mask = (bits: Buffer, xor: Buffer = Buffer.alloc(bits.length)): RawExpression =>
  expression('bitwise', { 1: FIRST, 2: FIRST, 3: bits.length, 4: value(bits), 5: value(xor) });

export function source(family: IpFamily, to = FIRST): RawExpression {
  const { source: offset, length } = ADDRESS[family];
  return payload(NETWORK, offset, length, to);
}

export function destination(family: IpFamily, to = FIRST): RawExpression {
  const { source: offset, length } = ADDRESS[family];
  return payload(NETWORK, offset + length, length, to);
}

/** The protocol and the destination port. */
const protocolAndPort = (to: number): Rule => [
  load('meta', META.L4PROTO, to),
  payload(TRANSPORT, 2, 2, to + 1),
];

/** How many registers an address takes. */
const registersOf = (family: IpFamily): number => ADDRESS[family].length / 4;

/** `ip daddr . meta l4proto . th dport`. */
export const frontend = (family: IpFamily): Rule => [
  destination(family),
  ...protocolAndPort(FIRST + registersOf(family)),
];

/** `meta l4proto . th dport`. */
export const nodePort: Rule = protocolAndPort(FIRST);

/** `ct status dnat ip saddr . ip daddr . meta l4proto . th dport`. */
export const translated = (family: IpFamily): Rule => [
  load('ct', CT.STATUS),
  mask(word(DESTINATION_TRANSLATED)),
  compare(NOT_EQUAL, word(0)),
  source(family),
  destination(family, FIRST + registersOf(family)),
  ...protocolAndPort(FIRST + 2 * registersOf(family)),
];

/** Whether what was loaded is in the set. */
export const isIn = (set: string): RawExpression => expression('lookup', { 1: set, 2: FIRST });

/** Does what the map has for what was loaded. */
export const vmap = (set: string, id?: number): RawExpression =>
  expression('lookup', { 1: set, 2: FIRST, 3: 0, 4: id });

/** Puts what the map has for what was loaded into its place. */
export const map = (set: string, id: number): RawExpression =>
  expression('lookup', { 1: set, 2: FIRST, 3: FIRST, 4: id });

export const isNew: Rule = [load('ct', CT.STATE), mask(word(NEW)), compare(NOT_EQUAL, word(0))];

/** `fib saddr type local`. */
export const isFromNode: Rule = [
  expression('fib', { 1: FIRST, 2: ADDRESS_TYPE, 3: 1 }),
  compare(EQUAL, word(LOCAL)),
];

/** Whether the address that is loaded is in the network. */
export function isWithin(
  address: RawExpression,
  network: Buffer,
  prefixLength: number,
  isMeant = true,
): Rule {
  const bits = Buffer.from(
    network.map((_, at) => (0xff00 >> Math.min(8, Math.max(0, prefixLength - at * 8))) & 0xff),
  );
  return [address, mask(bits), compare(isMeant ? EQUAL : NOT_EQUAL, network)];
}

/** `mark set mark or MARK`. */
export const mark: Rule = [load('meta', META.MARK), mask(word(~MARK), word(MARK)), setMark];

/** `mark and MARK != 0 mark set mark xor MARK`. */
export const takeMark: Rule = [
  load('meta', META.MARK),
  mask(word(MARK)),
  compare(NOT_EQUAL, word(0)),
  load('meta', META.MARK),
  mask(word(~0), word(MARK)),
  setMark,
];

export const masquerade = expression('masq', { 1: FULLY_RANDOM });

export const reject = (family: IpFamily): RawExpression =>
  expression('reject', { 1: 0, 2: Buffer.of(family === 'IPv4' ? 3 : 4) });

/** `numgen random mod N`. */
export const draw = (modulus: number): RawExpression =>
  expression('numgen', { 1: FIRST, 2: modulus, 3: RANDOM, 4: 0 });

/** `meta l4proto PROTO`. */
export const isProtocol = (protocol: number): Rule => [
  load('meta', META.L4PROTO),
  compare(EQUAL, Buffer.of(protocol)),
];

/** An address and port as registers have them one after the other. */
export const loadedPlace = (family: IpFamily, place: Buffer): Rule => {
  const { length } = ADDRESS[family];
  return [
    expression('immediate', { 1: FIRST, 2: value(place.subarray(0, length)) }),
    expression('immediate', { 1: FIRST + registersOf(family), 2: value(place.subarray(length, length + 2)) }),
  ];
};

/** To the address and port that were loaded. */
export const translate = (family: IpFamily): RawExpression =>
  expression('nat', { 1: 1, 2: FAMILY[family], 3: FIRST, 5: FIRST + registersOf(family) });

/** `update @SET { ip saddr }`. */
export const remember = (family: IpFamily, set: string): Rule => [
  source(family),
  expression('dynset', { 1: set, 3: UPDATE, 4: FIRST }),
];

export const jump = (chain: string): RawExpression => verdict('JUMP', chain);
export const goto = (chain: string): RawExpression => verdict('GOTO', chain);
export const drop = verdict('DROP');
export const returns = verdict('RETURN');
/** What a number drawn is looked up by. */
export const drawn = word;
