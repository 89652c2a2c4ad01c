import { addressBits } from '../../../domain/net/cidr.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import {
  ADDRESSES,
  type Comparison,
  type DrawnNumber,
  type Key,
  type KeyField,
  type Rule,
  type Statement,
} from '../../../domain/nftables/layout/table.js';
import {
  safeNetwork,
  safeComment,
  safeName,
  safeNumber,
  UnsafeTextError,
} from '../../../domain/nftables/safe-text.js';
import { addressBytes, familyNumber } from '../../netlink/protocol.js';
import type { ExpressionName, ExpressionRecord, ExpressionValues } from './expressions.js';
import { OBJECT_COUNTER, VERDICT_CODES } from './nf-tables.js';
import { hostWord, interfaceBytes, maskBytes, networkPort, networkWord } from './operands.js';
import type { RuleRecord } from './records.js';

const META = { PRIORITY: 2, MARK: 3, INPUT_NAME: 6, L4PROTO: 16 } as const;
const CT = { STATE: 0, STATUS: 2 } as const;
const CT_STATE_NEW = 8;
const CT_STATUS_DNAT = 0x20;
const RTN_LOCAL = 2;
const FIB_TYPE = 3;
const OPERATORS = { eq: 0, neq: 1, gte: 5 } as const;
const HOST_TO_NETWORK = 1;

/** Types of numgen. */
const NUMBERS = { inTurn: 0, random: 1 } as const;

/** The type of hash. */
const JENKINS = 0;

/** Where nft puts what is hashed: behind the register of the result, and behind a key of which the result is the second part. */
const HASHED = 4;
const HASHED_FOR_KEY = 6;

/** Adds an element, or restarts its timeout. */
const UPDATE = 1;
const MAPS_ADDRESS_AND_PORT = 3;
const FULLY_RANDOM = 0x10;

/** Port unreachable. */
const ICMP_CODE = { IPv4: 3, IPv6: 4 } as const;

/** A rule as it is sent (docs/spec/nft-netlink.md §10). Throws UnsafeTextError. */
export function ruleRecord(family: IpFamily, { statements, comment }: Rule): RuleRecord {
  const encoder = new StatementEncoder(family);
  for (const statement of statements) encoder.encode(statement);
  const { expressions } = encoder;
  return { expressions, ...(comment !== undefined && { userdata: { comment: safeComment(comment) } }) };
}

/**
 * Writes statements as expressions, with all attributes that the kernel's dump of such an expression has, so that sent and listed ones
 * compare equal attribute by attribute. Attributes are in the order in which nft sends them.
 */
class StatementEncoder {
  readonly expressions: ExpressionRecord[] = [];
  private readonly addressLength: 4 | 16;

  constructor(private readonly family: IpFamily) {
    this.addressLength = family === 'IPv4' ? 4 : 16;
  }

  encode(statement: Statement): void {
    switch (statement.kind) {
      case 'address':
        return this.address(statement.field, statement.is, statement.network);
      case 'input-interface':
        this.add('meta', { key: META.INPUT_NAME, dreg: 1 });
        return this.compare(operator(statement.is), interfaceBytes(statement.name, statement.wildcard));
      case 'dport':
        this.payload('transport', 2, 2, 1);
        return this.compare(operator(statement.is), networkPort(statement.port));
      case 'local-address':
        this.add('fib', { dreg: 1, result: FIB_TYPE, flags: statement.field === 'saddr' ? 1 : 2 });
        return this.compare('eq', hostWord(RTN_LOCAL));
      case 'new-connection':
        this.add('ct', { key: CT.STATE, dreg: 1 });
        return this.hasBits(CT_STATE_NEW);
      case 'translated':
        this.add('ct', { key: CT.STATUS, dreg: 1 });
        return this.hasBits(CT_STATUS_DNAT);
      case 'member':
        this.key(statement.key);
        return this.add('lookup', {
          set: safeName(statement.set),
          sreg: 1,
          flags: statement.is === '!=' ? 1 : 0,
        });
      case 'verdict-map':
        this.key(statement.key);
        return this.add('lookup', { set: safeName(statement.map), sreg: 1, dreg: 0, flags: 0 });
      case 'set-priority':
        if (statement.to === 'none') this.add('immediate', { dreg: 1, data: { value: hostWord(0) } });
        else if ('map' in statement.to) this.mapped(statement.to);
        else this.draw(statement.to);
        return this.add('meta', { key: META.PRIORITY, sreg: 1 });
      case 'priority-at-least':
        this.add('meta', { key: META.PRIORITY, dreg: 1 });
        this.add('byteorder', { sreg: 1, dreg: 1, op: HOST_TO_NETWORK, length: 4, size: 4 });
        return this.compare('gte', networkWord(safeNumber('priority', statement.value, 0, 0xffffffff)));
      case 'mark-has':
        this.add('meta', { key: META.MARK, dreg: 1 });
        return this.hasBits(markOf(statement.bit));
      case 'mark-set':
        return this.changeMark(~markOf(statement.bit), markOf(statement.bit));
      case 'mark-flip':
        return this.changeMark(0xffffffff, markOf(statement.bit));
      case 'remember': {
        this.key(statement.key);
        const timeout = safeNumber('timeout', statement.timeoutSeconds, 1, 0xffffffff) * 1000;
        return this.add('dynset', { set: safeName(statement.set), op: UPDATE, key: 1, timeout });
      }
      case 'dnat':
        this.mapped(statement);
        return this.translate();
      case 'masquerade':
        return this.add('masq', { flags: FULLY_RANDOM });
      case 'count':
        return this.add('objref', { type: OBJECT_COUNTER, name: safeName(statement.counter) });
      case 'reject':
        return this.add('reject', { type: 0, code: ICMP_CODE[this.family] });
      case 'drop':
      case 'return':
        return this.verdict(statement.kind);
      case 'jump':
      case 'goto':
        return this.verdict(statement.kind, safeName(statement.chain));
    }
  }

  private add<Name extends ExpressionName>(name: Name, values: ExpressionValues<Name>): void {
    this.expressions.push({ name, values });
  }

  private verdict(verdict: keyof typeof VERDICT_CODES, chain?: string): void {
    this.add('immediate', { dreg: 0, data: { verdict: { code: VERDICT_CODES[verdict], chain } } });
  }

  private payload(base: 'network' | 'transport', offset: number, length: number, dreg: number): void {
    this.add('payload', { dreg, base: base === 'network' ? 1 : 2, offset, length });
  }

  /** Compares the first register. */
  private compare(comparison: keyof typeof OPERATORS, value: Buffer): void {
    this.add('cmp', { sreg: 1, op: OPERATORS[comparison], data: { value } });
  }

  /** The register becomes (register & mask) ^ xor. */
  private bitwise(register: number, mask: Buffer, xor: Buffer): void {
    const values = { sreg: register, dreg: register, length: mask.length, op: 0 };
    this.add('bitwise', { ...values, mask: { value: mask }, xor: { value: xor } });
  }

  /** To the address in the first register, and the port behind it. */
  private translate(): void {
    const port = register(this.addressLength / 4);
    this.add('nat', {
      type: 1,
      family: familyNumber(this.family),
      'address-min': 1,
      'address-max': 1,
      'port-min': port,
      'port-max': port,
      flags: MAPS_ADDRESS_AND_PORT,
    });
  }

  private mapped({ key, map }: { readonly key: Key; readonly map: string }): void {
    this.key(key);
    this.add('lookup', { set: safeName(map), sreg: 1, dreg: 1, flags: 0 });
  }

  /**
   * Loads the fields into consecutive slots.
   * @returns the slot behind them
   */
  private key(key: Key, first = 0): number {
    if (key.length === 0) throw new UnsafeTextError('key', '', 'at least one field');
    let slot = first;
    for (const field of key) {
      this.field(field, register(slot));
      slot += field.field === 'saddr' || field.field === 'daddr' ? this.addressLength / 4 : 1;
    }
    return slot;
  }

  private field(field: KeyField, dreg: number): void {
    const { family, addressLength } = this;
    switch (field.field) {
      case 'saddr': {
        this.payload('network', ADDRESSES[family].saddr, addressLength, dreg);
        const bits = addressBits(family);
        const length = safeNumber('prefix length', field.prefixLength ?? bits, 0, bits);
        if (length < bits) this.bitwise(dreg, maskBytes(addressLength, length), Buffer.alloc(addressLength));
        return;
      }
      case 'daddr':
        return this.payload('network', ADDRESSES[family].daddr, addressLength, dreg);
      case 'l4proto':
        return this.add('meta', { key: META.L4PROTO, dreg });
      case 'sport':
        return this.payload('transport', 0, 2, dreg);
      case 'dport':
        return this.payload('transport', 2, 2, dreg);
      case 'priority':
        return this.add('meta', { key: META.PRIORITY, dreg });
      case 'draw':
        return this.draw(field, dreg, HASHED_FOR_KEY);
    }
  }

  private draw({ modulus: count, offset: first, by }: DrawnNumber, dreg = 1, hashed = HASHED): void {
    const modulus = safeNumber('modulus', count, 1, 0xffffffff);
    const offset = safeNumber('offset', first, 0, 0xffffffff);
    if (typeof by !== 'object') {
      const type = by === 'turn' ? NUMBERS.inTurn : NUMBERS.random;
      return this.add('numgen', { dreg, modulus, type, offset });
    }
    const length = 4 * (this.key(by.key, hashed) - hashed);
    const seed = safeNumber('seed', by.seed, 0, 0xffffffff);
    const sreg = register(hashed);
    const shift = offset === 0 ? {} : { offset };
    this.add('hash', { sreg, dreg, length, modulus, seed, ...shift, type: JENKINS });
  }

  /** As nft does it: a prefix that ends at a byte boundary is compared by loading fewer bytes, others with a mask. */
  private address(field: 'saddr' | 'daddr', is: Comparison, text: string): void {
    const { family, addressLength } = this;
    const network = safeNetwork(family, text);
    const bytes = Buffer.from(addressBytes(network.address));
    const wholeBytes = network.prefixLength > 0 && network.prefixLength % 8 === 0;
    const length = wholeBytes ? network.prefixLength / 8 : addressLength;
    this.payload('network', ADDRESSES[family][field], length, 1);
    if (!wholeBytes)
      this.bitwise(1, maskBytes(addressLength, network.prefixLength), Buffer.alloc(addressLength));
    this.compare(operator(is), bytes.subarray(0, length));
  }

  private hasBits(bits: number): void {
    this.bitwise(1, hostWord(bits), hostWord(0));
    this.compare('neq', hostWord(0));
  }

  private changeMark(mask: number, xor: number): void {
    this.add('meta', { key: META.MARK, dreg: 1 });
    this.bitwise(1, hostWord(mask), hostWord(xor));
    this.add('meta', { key: META.MARK, sreg: 1 });
  }
}

function operator(comparison: Comparison): 'eq' | 'neq' {
  return comparison === '==' ? 'eq' : 'neq';
}

function markOf(bit: number): number {
  return 2 ** safeNumber('mark bit', bit, 0, 31);
}

/** Numbers of registers: a slot is four bytes; every fourth has the number of a 16-byte register (docs/spec/nft-netlink.md §7.3). */
function register(slot: number): number {
  return slot % 4 === 0 ? 1 + slot / 4 : 8 + slot;
}
