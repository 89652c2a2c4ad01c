/** The parts of the rules of our table, as expressions of the kernel. */

import { addressBits, parseCidr } from '../../net/cidr.js';
import type { IpFamily } from '../../net/ip-family.js';
import {
  addressBytes,
  hostWord,
  interfaceBytes,
  maskBytes,
  networkHalf,
  networkWord,
} from '../kernel/bytes.js';
import type { CompareOperator, Expression, KernelRule, KernelVerdict } from '../kernel/ruleset.js';
import { safeInterface, UnsafeTextError } from '../safe-text.js';
import { ADDRESSES } from './table.js';

/**
 * One component of a lookup key, read from the packet: a field, the first bits of the source, or a number that is drawn, which stands
 * only behind one other field.
 */
export type KeyField =
  | 'saddr'
  | 'daddr'
  | 'l4proto'
  | 'sport'
  | 'dport'
  | 'priority'
  | { readonly sourceBits: number }
  | { readonly draw: DrawnNumber };

export type Key = readonly KeyField[];

/** A number from [offset, offset + modulus). */
export interface DrawnNumber {
  readonly modulus: number;
  readonly offset: number;
  /**
   * Missing: a random one, all equally likely (`numgen random mod M offset O`). `turn`: one after another, by a counter of the rule
   * (`numgen inc`). A key: by its hash with this seed, the same on every node (`jhash … mod M seed S`).
   */
  readonly by?: 'turn' | { readonly key: Key; readonly seed: number } | undefined;
}

export type Comparison = '==' | '!=';

/** One step of a rule: one expression or several. */
export type RulePart = Expression | readonly Expression[];

/** A rule of these parts. They run in order; a comparison or lookup that fails ends the rule. */
export function rule(parts: readonly RulePart[], comment?: string): KernelRule {
  const expressions = parts.flat() as readonly Expression[];
  return comment === undefined ? { expressions } : { expressions, comment };
}

export const DROP: Expression = { kind: 'verdict', verdict: { code: 'drop' } };
export const RETURN: Expression = { kind: 'verdict', verdict: { code: 'return' } };
/** `masquerade fully-random`. Ends the walk. */
export const MASQUERADE: Expression = { kind: 'masquerade', fullyRandom: true };

export function leadTo(code: Extract<KernelVerdict['code'], 'jump' | 'goto'>, chain: string): Expression {
  return { kind: 'verdict', verdict: { code, chain } };
}

export const NEW_CONNECTION = hasBits({ kind: 'ct', to: 0, key: 'state' }, 8);
/** The connection's destination was translated: `ct status dnat`. */
export const TRANSLATED = hasBits({ kind: 'ct', to: 0, key: 'status' }, 0x20);

/*
 * "Priority" is the packet's queueing priority (skb->priority), which serves as a register between two lookups and is cleared again
 * before the packet leaves. A `bit` of the packet's mark is an index: 0, the lowest, to 31.
 */

export function priorityAtLeast(value: number): readonly Expression[] {
  return [
    { kind: 'meta', to: 0, key: 'priority' },
    { kind: 'byteorder', from: 0, to: 0, length: 4, size: 4 },
    compare('>=', networkWord(value)),
  ];
}

/** @param value loads it */
export function setPriority(value: RulePart): readonly Expression[] {
  return [...[value].flat(), { kind: 'meta-set', from: 0, key: 'priority' }];
}

export const CLEAR_PRIORITY = setPriority({ kind: 'immediate', to: 0, value: hostWord(0) });

export function markHas(bit: number): readonly Expression[] {
  return hasBits({ kind: 'meta', to: 0, key: 'mark' }, 2 ** bit);
}

export function markSet(bit: number): readonly Expression[] {
  return changeMark(~(2 ** bit), 2 ** bit);
}

export function markFlip(bit: number): readonly Expression[] {
  return changeMark(0xffffffff, 2 ** bit);
}

function changeMark(mask: number, xor: number): readonly Expression[] {
  return [
    { kind: 'meta', to: 0, key: 'mark' },
    { kind: 'bitwise', from: 0, to: 0, mask: hostWord(mask), xor: hostWord(xor) },
    { kind: 'meta-set', from: 0, key: 'mark' },
  ];
}

function hasBits(load: Expression, bits: number): readonly Expression[] {
  return [
    load,
    { kind: 'bitwise', from: 0, to: 0, mask: hostWord(bits), xor: hostWord(0) },
    compare('!=', hostWord(0)),
  ];
}

function compare(op: CompareOperator, value: Uint8Array): Expression {
  return { kind: 'cmp', from: 0, op, value };
}

const RTN_LOCAL = 2;
/** Of dynset: adds an element, or restarts its timeout. */
const UPDATE = 1;
const MAPS_ADDRESS_AND_PORT = 3;
/** Port unreachable. */
const ICMP_CODE = { IPv4: 3, IPv6: 4 } as const;

/** Where nft puts what is hashed: behind the number, and behind a key of which the number is the second part. */
const HASHED = 16;
const HASHED_FOR_KEY = 24;

/** Those parts that depend on the family. */
export class RuleParts {
  /** ICMP (or ICMPv6) port unreachable. */
  readonly reject: Expression;
  private readonly addressLength: 4 | 16;

  constructor(private readonly family: IpFamily) {
    this.addressLength = family === 'IPv4' ? 4 : 16;
    this.reject = { kind: 'reject', type: 0, code: ICMP_CODE[family] };
  }

  /**
   * As nft does it: a prefix that ends at a byte boundary is compared by loading fewer bytes, others with a mask.
   * @param network `a/n`, or one address; throws UnsafeTextError for anything else
   */
  address(field: 'saddr' | 'daddr', is: Comparison, network: string): readonly Expression[] {
    const { family, addressLength } = this;
    const cidr = parseCidr(network.includes('/') ? network : `${network}/${addressBits(family)}`);
    if (cidr?.family !== family)
      throw new UnsafeTextError('network', network, `an ${family} address or CIDR`);
    const { address, prefixLength } = cidr;
    const bytes = addressBytes(address);
    const wholeBytes = prefixLength > 0 && prefixLength % 8 === 0;
    const length = wholeBytes ? prefixLength / 8 : addressLength;
    return [
      { kind: 'payload', to: 0, base: 'network', offset: ADDRESSES[family][field], length },
      ...(wholeBytes ? [] : [this.masked(0, prefixLength)]),
      compare(is, bytes.slice(0, length)),
    ];
  }

  /** @param wildcard the name is a prefix, of at least one character: `veth*` */
  inputInterface(is: Comparison, name: string, wildcard: boolean): readonly Expression[] {
    const value = interfaceBytes(safeInterface(name), wildcard);
    return [{ kind: 'meta', to: 0, key: 'iifname' }, compare(is, value)];
  }

  /** The address belongs to this host: `fib saddr type local`. */
  local(field: 'saddr' | 'daddr'): readonly Expression[] {
    return [{ kind: 'fib', to: 0, field, result: 'type' }, compare('==', hostWord(RTN_LOCAL))];
  }

  member(key: Key, set: string, is: Comparison = '=='): readonly Expression[] {
    return [...this.load(key), { kind: 'lookup', set, from: 0, inverted: is === '!=' }];
  }

  verdict(key: Key, map: string): readonly Expression[] {
    return [...this.load(key), { kind: 'lookup', set: map, from: 0, to: 'verdict', inverted: false }];
  }

  /** The map's value for the key. */
  mapped(key: Key, map: string): readonly Expression[] {
    return [...this.load(key), { kind: 'lookup', set: map, from: 0, to: 0, inverted: false }];
  }

  drawn({ modulus, offset, by }: DrawnNumber, to = 0, hashed = HASHED): readonly Expression[] {
    if (typeof by !== 'object')
      return [{ kind: 'random', to, modulus, offset, ...(by === 'turn' && { inTurn: true }) }];
    const length = by.key.reduce((sum, field) => sum + this.lengthOf(field), 0);
    return [
      ...this.load(by.key, hashed),
      { kind: 'hash', from: hashed, length, to, modulus, offset, seed: by.seed },
    ];
  }

  /** Adds the key to a dynamic set, or restarts its timeout. Fails (and ends the rule) when the set is full. */
  remember(key: Key, set: string, timeoutSeconds: number): readonly Expression[] {
    return [...this.load(key), { kind: 'remember', set, op: UPDATE, from: 0, timeoutSeconds }];
  }

  /**
   * Translates the destination to the address and port that the map holds for the key. Ends the walk. nft accepts it only after a match of
   * the transport protocol; port 0 is never used.
   */
  translate(key: Key, map: string): readonly Expression[] {
    return [
      ...this.load(['dport']),
      compare('!=', networkHalf(0)),
      ...this.mapped(key, map),
      {
        kind: 'nat',
        type: 'dnat',
        family: this.family,
        address: 0,
        lastAddress: 0,
        port: this.addressLength,
        lastPort: this.addressLength,
        flags: MAPS_ADDRESS_AND_PORT,
      },
    ];
  }

  /** Loads the fields, each padded to words of four bytes. */
  private load(key: Key, first = 0): readonly Expression[] {
    let at = first;
    return key.flatMap((field) => {
      const loaded = this.field(field, at);
      at += this.lengthOf(field);
      return loaded;
    });
  }

  private lengthOf(field: KeyField): number {
    const isAddress =
      field === 'saddr' || field === 'daddr' || (typeof field === 'object' && 'sourceBits' in field);
    return isAddress ? this.addressLength : 4;
  }

  private field(field: KeyField, to: number): readonly Expression[] {
    const { family, addressLength: length } = this;
    const payload = (base: 'network' | 'transport', offset: number, its: number): Expression => ({
      kind: 'payload',
      to,
      base,
      offset,
      length: its,
    });
    switch (field) {
      case 'saddr':
      case 'daddr':
        return [payload('network', ADDRESSES[family][field], length)];
      case 'sport':
      case 'dport':
        return [payload('transport', field === 'sport' ? 0 : 2, 2)];
      case 'l4proto':
      case 'priority':
        return [{ kind: 'meta', to, key: field }];
    }
    if ('draw' in field) return this.drawn(field.draw, to, HASHED_FOR_KEY);
    const source = payload('network', ADDRESSES[family].saddr, length);
    return field.sourceBits < addressBits(family) ? [source, this.masked(to, field.sourceBits)] : [source];
  }

  /** Only the first bits of an address count. */
  private masked(at: number, bits: number): Expression {
    const length = this.addressLength;
    return { kind: 'bitwise', from: at, to: at, mask: maskBytes(length, bits), xor: new Uint8Array(length) };
  }
}
