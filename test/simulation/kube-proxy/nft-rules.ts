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

const expression = (name: string, attributes: RawAttributes): RawExpression => ({ name, attributes });
const value = (bytes: Buffer) => [{ type: DATA.VALUE, value: bytes }];

/** Bytes of a number as registers have it. */
function word(number: number): Buffer<ArrayBuffer> {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(number >>> 0);
  return bytes;
}

function payload(base: number, offset: number, length: number, to: number): RawExpression {
  return expression('payload', [
    { type: 1, value: to },
    { type: 2, value: base },
    { type: 3, value: offset },
    { type: 4, value: length },
  ]);
}

const load = (name: 'meta' | 'ct', key: number, to = FIRST): RawExpression =>
  expression(name, [
    { type: 1, value: to },
    { type: 2, value: key },
  ]);

const setMark = expression('meta', [
  { type: 2, value: META.MARK },
  { type: 3, value: FIRST },
]);

const compare = (operator: number, bytes: Buffer): RawExpression =>
  expression('cmp', [
    { type: 1, value: FIRST },
    { type: 2, value: operator },
    { type: 3, value: value(bytes) },
  ]);

const mask = (bits: Buffer, xor: Buffer = Buffer.alloc(bits.length)): RawExpression =>
  expression('bitwise', [
    { type: 1, value: FIRST },
    { type: 2, value: FIRST },
    { type: 3, value: bits.length },
    { type: 4, value: value(bits) },
    { type: 5, value: value(xor) },
  ]);

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
export const isIn = (set: string): RawExpression =>
  expression('lookup', [
    { type: 1, value: set },
    { type: 2, value: FIRST },
  ]);

/** Does what the map has for what was loaded. */
export const vmap = (set: string, id?: number): RawExpression =>
  expression('lookup', [
    { type: 1, value: set },
    { type: 2, value: FIRST },
    { type: 3, value: 0 },
    ...(id === undefined ? [] : [{ type: 4, value: id }]),
  ]);

/** Puts what the map has for what was loaded into its place. */
export const map = (set: string, id: number): RawExpression =>
  expression('lookup', [
    { type: 1, value: set },
    { type: 2, value: FIRST },
    { type: 3, value: FIRST },
    { type: 4, value: id },
  ]);

export const isNew: Rule = [load('ct', CT.STATE), mask(word(NEW)), compare(NOT_EQUAL, word(0))];

/** `fib saddr type local`. */
export const isFromNode: Rule = [
  expression('fib', [
    { type: 1, value: FIRST },
    { type: 2, value: ADDRESS_TYPE },
    { type: 3, value: 1 },
  ]),
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

export const masquerade = expression('masq', [{ type: 1, value: FULLY_RANDOM }]);

export const reject = (family: IpFamily): RawExpression =>
  expression('reject', [
    { type: 1, value: 0 },
    { type: 2, value: Buffer.of(family === 'IPv4' ? 3 : 4) },
  ]);

/** `numgen random mod N`. */
export const draw = (modulus: number): RawExpression =>
  expression('numgen', [
    { type: 1, value: FIRST },
    { type: 2, value: modulus },
    { type: 3, value: RANDOM },
    { type: 4, value: 0 },
  ]);

/** `meta l4proto PROTO`. */
export const isProtocol = (protocol: number): Rule => [
  load('meta', META.L4PROTO),
  compare(EQUAL, Buffer.of(protocol)),
];

/** An address and port as registers have them one after the other. */
export const loadedPlace = (family: IpFamily, place: Buffer): Rule => {
  const { length } = ADDRESS[family];
  return [
    expression('immediate', [
      { type: 1, value: FIRST },
      { type: 2, value: value(place.subarray(0, length)) },
    ]),
    expression('immediate', [
      { type: 1, value: FIRST + registersOf(family) },
      { type: 2, value: value(place.subarray(length, length + 2)) },
    ]),
  ];
};

/** To the address and port that were loaded. */
export const translate = (family: IpFamily): RawExpression =>
  expression('nat', [
    { type: 1, value: 1 },
    { type: 2, value: FAMILY[family] },
    { type: 3, value: FIRST },
    { type: 5, value: FIRST + registersOf(family) },
  ]);

/** `update @SET { ip saddr }`. */
export const remember = (family: IpFamily, set: string): Rule => [
  source(family),
  expression('dynset', [
    { type: 1, value: set },
    { type: 3, value: UPDATE },
    { type: 4, value: FIRST },
  ]),
];

export const jump = (chain: string): RawExpression => verdict('JUMP', chain);
export const goto = (chain: string): RawExpression => verdict('GOTO', chain);
export const drop = verdict('DROP');
/** What a number drawn is looked up by. */
export const drawn = word;
