import type {
  CompareOperator,
  CtKey,
  Expression,
  KernelVerdict,
  MetaKey,
} from '../../../../domain/nftables/kernel/expression.js';
import type { AttributeReader } from '../../../netlink/attribute-reader.js';
import { DATA, EXPRESSION, LIST_ELEMENT, VERDICT_CODES } from '../nf-tables.js';
import { readVerdict } from '../read/expression-text.js';
import { readExtension } from './read-extension.js';

/* Numbers of linux/netfilter/nf_tables.h (docs/spec/nft-netlink.md §9). */

const OPERATORS: readonly CompareOperator[] = ['==', '!=', '<', '<=', '>', '>='];
const BASES: Readonly<Record<number, 'network' | 'transport'>> = { 1: 'network', 2: 'transport' };
const META_KEYS: Readonly<Record<number, MetaKey>> = {
  1: 'protocol',
  2: 'priority',
  3: 'mark',
  4: 'iif',
  5: 'oif',
  6: 'iifname',
  7: 'oifname',
  15: 'nfproto',
  16: 'l4proto',
};
const CT_KEYS: Readonly<Record<number, CtKey>> = { 0: 'state', 1: 'direction', 2: 'status', 3: 'mark' };
/** Those of one direction, of which only the original one is known for a first packet. */
const CT_ORIGINAL_KEYS: Readonly<Record<number, CtKey>> = {
  8: 'original saddr',
  9: 'original daddr',
  10: 'original protocol',
  12: 'original dport',
  19: 'original saddr',
  20: 'original daddr',
  21: 'original saddr',
  22: 'original daddr',
};
const FIB = { SADDR: 1, DADDR: 2, PRESENT: 32, ADDRESS_TYPE: 3 } as const;
const INVERTED = 1;
const FULLY_RANDOM = 0x10;
const MASK_AND_XOR = 0;
/** They change or watch things that no rule of a first packet asks about. */
const INDIFFERENT: ReadonlySet<string> = new Set(['counter', 'log', 'quota', 'notrack', 'last', 'objref']);

type Attributes = ReadonlyMap<number, AttributeReader>;

/** The expressions of a rule, in order. What is not known becomes `unknown`. */
export function readExpressions(list: AttributeReader): readonly Expression[] {
  const expressions: Expression[] = [];
  while (list.next()) if (list.type === LIST_ELEMENT) expressions.push(...readExpression(list.nested()));
  return expressions;
}

/** Several for an extension of iptables. */
function readExpression(attributes: AttributeReader): readonly Expression[] {
  let name = '';
  let data: Attributes = new Map();
  while (attributes.next()) {
    if (attributes.type === EXPRESSION.NAME) name = attributes.text();
    else if (attributes.type === EXPRESSION.DATA) data = byType(attributes.nested());
  }
  const fields = new Fields(data);
  if (INDIFFERENT.has(name)) return [{ kind: 'indifferent', name }];
  if (name === 'match' || name === 'target') return extension(name, fields);
  const read = Object.hasOwn(READERS, name) ? READERS[name]!(fields) : undefined;
  return [read ?? { kind: 'unknown', name }];
}

function extension(kind: 'match' | 'target', fields: Fields): readonly Expression[] {
  const name = fields.text(1);
  const unknown = { kind: 'unknown', name: `iptables ${kind} ${name}` } as const;
  return readExtension(kind, name, fields.number(2), fields.bytes(3)) ?? [unknown];
}

/** Undefined where the expression has a form that is not known. */
const READERS: Readonly<Record<string, (fields: Fields) => Expression | undefined>> = {
  payload(fields) {
    const base = BASES[fields.number(2)];
    const to = fields.register(1);
    if (base === undefined || to === undefined) return undefined;
    return { kind: 'payload', to, base, offset: fields.number(3), length: fields.number(4) };
  },
  meta(fields) {
    const key = META_KEYS[fields.number(2)];
    const to = fields.register(1);
    const from = fields.register(3);
    if (from !== undefined)
      return key === 'mark' || key === 'priority' ? { kind: 'meta-set', from, key } : undefined;
    return key && to !== undefined ? { kind: 'meta', to, key } : undefined;
  },
  ct(fields) {
    const number = fields.number(2);
    const isOriginal = fields.has(3) && fields.number(3) === 0;
    const key = isOriginal ? CT_ORIGINAL_KEYS[number] : CT_KEYS[number];
    const to = fields.register(1);
    if (fields.has(4)) return { kind: 'indifferent', name: `ct ${key ?? number} set` };
    return key && to !== undefined ? { kind: 'ct', to, key } : undefined;
  },
  fib(fields) {
    const flags = fields.number(3);
    const to = fields.register(1);
    if (to === undefined) return undefined;
    const field = (flags & FIB.SADDR) !== 0 ? 'saddr' : 'daddr';
    if (fields.number(2) === FIB.ADDRESS_TYPE) return { kind: 'fib', to, field, result: 'type' };
    const asksForSourceRoute = (flags & FIB.PRESENT) !== 0 && field === 'saddr';
    return asksForSourceRoute ? { kind: 'fib', to, field, result: 'exists' } : undefined;
  },
  cmp(fields) {
    const from = fields.register(1);
    const op = OPERATORS[fields.number(2)];
    const value = fields.data(3);
    return from !== undefined && op && value ? { kind: 'cmp', from, op, value } : undefined;
  },
  range(fields) {
    const from = fields.register(1);
    const [first, last] = [fields.data(3), fields.data(4)];
    if (from === undefined || !first || !last) return undefined;
    return { kind: 'range', from, inverted: fields.number(2) === INVERTED, first, last };
  },
  bitwise(fields) {
    const [from, to] = [fields.register(1), fields.register(2)];
    const [mask, xor] = [fields.data(4), fields.data(5)];
    if (from === undefined || to === undefined || !mask || !xor) return undefined;
    return fields.number(6) === MASK_AND_XOR ? { kind: 'bitwise', from, to, mask, xor } : undefined;
  },
  byteorder(fields) {
    const [from, to] = [fields.register(1), fields.register(2)];
    if (from === undefined || to === undefined) return undefined;
    return { kind: 'byteorder', from, to, length: fields.number(4), size: fields.number(5) };
  },
  lookup(fields) {
    const from = fields.register(2);
    if (from === undefined) return undefined;
    const to = fields.has(3) ? (fields.register(3) ?? ('verdict' as const)) : undefined;
    const inverted = (fields.number(5) & INVERTED) !== 0;
    return { kind: 'lookup', set: fields.text(1), from, inverted, ...(to !== undefined && { to }) };
  },
  dynset(fields) {
    const from = fields.register(4);
    if (from === undefined || fields.has(7) || fields.has(10)) return undefined;
    return { kind: 'remember', set: fields.text(1), from, timeoutSeconds: fields.number(6) / 1000 };
  },
  numgen(fields) {
    const to = fields.register(1);
    if (to === undefined) return undefined;
    return { kind: 'random', to, modulus: fields.number(2), offset: fields.number(4) };
  },
  hash(fields) {
    const to = fields.register(2);
    if (to === undefined || !fields.has(4)) return undefined;
    return { kind: 'random', to, modulus: fields.number(4), offset: fields.number(6) };
  },
  immediate(fields) {
    const verdict = fields.verdict(2);
    if (verdict) return { kind: 'verdict', verdict };
    const to = fields.register(1);
    const value = fields.data(2);
    return to !== undefined && value ? { kind: 'immediate', to, value } : undefined;
  },
  nat(fields) {
    const [address, port] = [fields.register(3), fields.register(5)];
    return {
      kind: 'nat',
      type: fields.number(1) === 1 ? 'dnat' : 'snat',
      ...(address !== undefined && { address }),
      ...(port !== undefined && { port }),
    };
  },
  masq: (fields) => ({ kind: 'masquerade', fullyRandom: (fields.number(1) & FULLY_RANDOM) !== 0 }),
  reject: () => ({ kind: 'reject' }),
  limit: (fields) => ({ kind: 'limit', inverted: (fields.number(5) & INVERTED) !== 0 }),
};

/** The attributes of one expression by their numbers. */
class Fields {
  constructor(private readonly attributes: Attributes) {}

  has(type: number): boolean {
    return this.attributes.has(type);
  }

  /** 0 if it is missing, as the kernel omits flags that are not set. */
  number(type: number): number {
    return this.attributes.get(type)?.number() ?? 0;
  }

  text(type: number): string {
    return this.attributes.get(type)?.text() ?? '';
  }

  bytes(type: number): Buffer {
    return Buffer.from(this.attributes.get(type)?.value() ?? []);
  }

  /** The first byte of a register; undefined for that of verdicts, or if the attribute is missing. */
  register(type: number): number | undefined {
    const register = this.number(type);
    if (register >= 8) return (register - 8) * 4;
    return register >= 1 ? (register - 1) * 16 : undefined;
  }

  data(type: number): Buffer | undefined {
    const attribute = this.attributes.get(type)?.nested();
    return attribute && readValue(attribute);
  }

  verdict(type: number): KernelVerdict | undefined {
    const attribute = this.attributes.get(type)?.nested();
    return attribute && readKernelVerdict(attribute);
  }
}

/** The bytes of an attribute that holds data. */
export function readValue(data: AttributeReader): Buffer | undefined {
  while (data.next()) if (data.type === DATA.VALUE) return Buffer.from(data.value());
  return undefined;
}

const CONTINUE = 0xffffffff;
const QUEUE = 3;

/** The verdict of an attribute that holds data. */
export function readKernelVerdict(data: AttributeReader): KernelVerdict | undefined {
  while (data.next()) {
    if (data.type !== DATA.VERDICT) continue;
    const { code, chain } = readVerdict(data.nested());
    const known = Object.entries(VERDICT_CODES).find(([, number]) => number === code)?.[0];
    const name = (known as keyof typeof VERDICT_CODES | undefined) ?? otherVerdict(code);
    return chain === undefined ? { code: name } : { code: name, chain };
  }
  return undefined;
}

function otherVerdict(code: number): KernelVerdict['code'] {
  if (code === CONTINUE) return 'continue';
  return (code & 0xff) === QUEUE ? 'queue' : 'accept';
}

/** Readers of their own for the attributes, by number. */
function byType(attributes: AttributeReader): Attributes {
  const found = new Map<number, AttributeReader>();
  while (attributes.next()) found.set(attributes.type, attributes.copy());
  return found;
}
