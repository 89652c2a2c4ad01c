/** Expressions of rules, as the kernel sends and takes them (docs/internals/spec/nft-netlink.md §9, §10). */

import type {
  CompareOperator,
  CtKey,
  Expression,
  KernelVerdict,
  MetaKey,
} from '../../../domain/nftables/kernel/ruleset.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { familyNumber } from '../../netlink/protocol.js';
import {
  AttributeLayout,
  byte,
  bytes,
  flag,
  nested,
  number,
  text,
  word,
  type Form,
  type Values,
} from './attribute-layout.js';
import { expressionsOfExtension } from './iptables-extension.js';
import { DATA, EXPRESSION, LIST_ELEMENT, OBJECT_COUNTER, VERDICT_CODES } from './nf-tables.js';

const VERDICT_NAMES = new Map<number, KernelVerdict['code']>(
  Object.entries(VERDICT_CODES).map(([name, code]) => [code, name as KernelVerdict['code']]),
);
const CONTINUE = 0xffffffff;
const QUEUE = 3;
const VERDICT = new AttributeLayout({ code: [1, number], chain: [2, text] });

export const verdict: Form<KernelVerdict> = {
  read(attribute) {
    const { code = 0, chain } = VERDICT.read(attribute.nested());
    const name = VERDICT_NAMES.get(code) ?? otherVerdict(code);
    return chain === undefined ? { code: name } : { code: name, chain };
  },
  write(writer, type, { code, chain }) {
    const nest = writer.beginNest(type);
    VERDICT.write(writer, { code: VERDICT_CODES[code as keyof typeof VERDICT_CODES], chain });
    writer.endNest(nest);
  },
};

function otherVerdict(code: number): KernelVerdict['code'] {
  if (code === CONTINUE) return 'continue';
  return (code & 0xff) === QUEUE ? 'queue' : 'accept';
}

/** A value or a verdict, of an expression or of an element. */
export const data = nested(
  new AttributeLayout({ value: [DATA.VALUE, bytes], verdict: [DATA.VERDICT, verdict] }),
);

/** The same where it is a value. */
const operand: Form<Uint8Array | undefined> = {
  read: (attribute) => data.read(attribute).value,
  write: (writer, type, value) => data.write(writer, type, { value }),
};

/**
 * A register by its first byte. Its number counts slots of four bytes; every fourth slot has the number of a 16-byte register
 * (docs/internals/spec/nft-netlink.md §7.3).
 */
const register: Form<number | 'verdict'> = {
  read(attribute) {
    const its = attribute.number();
    if (its >= 8) return (its - 8) * 4;
    return its === 0 ? 'verdict' : (its - 1) * 16;
  },
  write(writer, type, at) {
    if (at === 'verdict') writer.putU32(type, 0);
    else writer.putU32(type, at % 16 === 0 ? 1 + at / 16 : 8 + at / 4);
  },
};

/* Numbers of linux/netfilter/nf_tables.h. */

const base = word({ network: 1, transport: 2 });
const operator = word<CompareOperator>({ '==': 0, '!=': 1, '<': 2, '<=': 3, '>': 4, '>=': 5 });
const metaKey = word<MetaKey>({
  protocol: 1,
  priority: 2,
  mark: 3,
  iif: 4,
  oif: 5,
  iifname: 6,
  oifname: 7,
  nfproto: 15,
  l4proto: 16,
});
const CT_KEYS: readonly CtKey[] = ['state', 'direction', 'status', 'mark'];
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
const MASK_AND_XOR = 0;
const HOST_TO_NETWORK = 1;
const NUMBERS = { inTurn: 0, random: 1 } as const;
const JENKINS = 0;
const FULLY_RANDOM = 0x10;

const family: Form<IpFamily | undefined> = word({ IPv4: familyNumber('IPv4'), IPv6: familyNumber('IPv6') });
const seconds: Form<number> = {
  read: (attribute) => attribute.number() / 1000,
  write: (writer, type, value) => writer.putU64(type, value * 1000),
};
const EXTENSION = { name: [1, text], revision: [2, number], info: [3, bytes] } as const;

/**
 * The attributes of each expression that some rule of ours has or that a trace can follow, in the order in which nft sends them, with the
 * names that they have in an Expression.
 */
const EXPRESSIONS = {
  payload: new AttributeLayout({
    to: [1, register],
    base: [2, base],
    offset: [3, number],
    length: [4, number],
  }),
  meta: new AttributeLayout({ key: [2, metaKey], to: [1, register], from: [3, register] }),
  ct: new AttributeLayout({
    key: [2, number],
    to: [1, register],
    direction: [3, number],
    from: [4, register],
  }),
  fib: new AttributeLayout({ to: [1, register], result: [2, number], flags: [3, number] }),
  cmp: new AttributeLayout({ from: [1, register], op: [2, operator], value: [3, operand] }),
  range: new AttributeLayout({
    from: [1, register],
    inverted: [2, flag],
    first: [3, operand],
    last: [4, operand],
  }),
  bitwise: new AttributeLayout({
    from: [1, register],
    to: [2, register],
    length: [3, number],
    op: [6, number],
    mask: [4, operand],
    xor: [5, operand],
  }),
  byteorder: new AttributeLayout({
    from: [1, register],
    to: [2, register],
    op: [3, number],
    length: [4, number],
    size: [5, number],
  }),
  lookup: new AttributeLayout({
    set: [1, text],
    from: [2, register],
    to: [3, register],
    inverted: [5, flag],
  }),
  numgen: new AttributeLayout({
    to: [1, register],
    modulus: [2, number],
    type: [3, number],
    offset: [4, number],
  }),
  hash: new AttributeLayout({
    from: [1, register],
    to: [2, register],
    length: [3, number],
    modulus: [4, number],
    seed: [5, number],
    offset: [6, number],
    type: [7, number],
  }),
  immediate: new AttributeLayout({ to: [1, register], data: [2, data] }),
  nat: new AttributeLayout({
    type: [1, word({ snat: 0, dnat: 1 })],
    family: [2, family],
    address: [3, register],
    lastAddress: [4, register],
    port: [5, register],
    lastPort: [6, register],
    flags: [7, number],
  }),
  masq: new AttributeLayout({ flags: [1, number], port: [2, register], lastPort: [3, register] }),
  reject: new AttributeLayout({ type: [1, number], code: [2, byte] }),
  objref: new AttributeLayout({ type: [1, number], name: [2, text] }),
  dynset: new AttributeLayout({
    set: [1, text],
    op: [3, number],
    from: [4, register],
    data: [5, register],
    timeoutSeconds: [6, seconds],
    expression: [7, data],
    flags: [9, number],
    expressions: [10, data],
  }),
  limit: new AttributeLayout({ inverted: [5, flag] }),
  match: new AttributeLayout(EXTENSION),
  target: new AttributeLayout(EXTENSION),
};

type Name = keyof typeof EXPRESSIONS;
type Attributes<Of extends Name> = Values<(typeof EXPRESSIONS)[Of]['fields']>;

/** Those of a rule. Only those that rules of ours have can be written. */
export const expressions: Form<readonly Expression[]> = {
  read(attribute) {
    const list = attribute.nested();
    const found: Expression[] = [];
    while (list.next()) {
      const attributes = list.nested();
      let name = '';
      let values: object | undefined;
      while (attributes.next()) {
        if (attributes.type === EXPRESSION.NAME) name = attributes.text();
        else if (attributes.type === EXPRESSION.DATA && Object.hasOwn(EXPRESSIONS, name))
          values = EXPRESSIONS[name as Name].read(attributes.nested());
      }
      found.push(...readExpression(name, values));
    }
    return found;
  },
  write(writer, type, list) {
    const nest = writer.beginNest(type);
    for (const each of list) {
      const [name, values] = sent(each);
      const entry = writer.beginNest(LIST_ELEMENT);
      writer.putText(EXPRESSION.NAME, name);
      const its = writer.beginNest(EXPRESSION.DATA);
      EXPRESSIONS[name].write(writer, values);
      writer.endNest(its);
      writer.endNest(entry);
    }
    writer.endNest(nest);
  },
};

/** The name and the attributes of an expression of ours: all that the kernel's dump of it has. */
function sent(expression: Expression): readonly [Name, object] {
  switch (expression.kind) {
    case 'payload':
    case 'meta':
    case 'cmp':
    case 'lookup':
    case 'nat':
    case 'reject':
      return [expression.kind, expression];
    case 'meta-set':
      return ['meta', expression];
    case 'ct':
      return ['ct', { ...expression, key: CT_KEYS.indexOf(expression.key) }];
    case 'fib': {
      const flags = expression.field === 'saddr' ? FIB.SADDR : FIB.DADDR;
      return ['fib', { to: expression.to, result: FIB.ADDRESS_TYPE, flags }];
    }
    case 'bitwise':
      return ['bitwise', { ...expression, length: expression.mask.length, op: MASK_AND_XOR }];
    case 'byteorder':
      return ['byteorder', { ...expression, op: HOST_TO_NETWORK }];
    case 'remember':
      return ['dynset', expression];
    case 'random':
      return ['numgen', { ...expression, type: expression.inTurn ? NUMBERS.inTurn : NUMBERS.random }];
    case 'hash':
      return ['hash', { ...expression, offset: expression.offset || undefined, type: JENKINS }];
    case 'immediate':
      return ['immediate', { to: expression.to, data: { value: expression.value } }];
    case 'verdict':
      return ['immediate', { to: 'verdict', data: { verdict: expression.verdict } }];
    case 'masquerade':
      return ['masq', { flags: expression.fullyRandom ? FULLY_RANDOM : 0 }];
    case 'count':
      return ['objref', { type: OBJECT_COUNTER, name: expression.counter }];
    default:
      throw new TypeError(`no rule of ours has the expression ${expression.kind}`);
  }
}

/** They change or count things that do not matter to a connection's first packet. */
const INDIFFERENT: ReadonlySet<string> = new Set(['counter', 'log', 'quota', 'notrack', 'last']);

/** An expression as it was read; several for an extension of iptables. What is not known becomes `unknown`. */
function readExpression(name: string, values: object | undefined): readonly Expression[] {
  if (INDIFFERENT.has(name)) return [{ kind: 'indifferent', name }];
  if (name === 'match' || name === 'target') return extension(name, values ?? {});
  const meaning = Object.hasOwn(MEANINGS, name) ? MEANINGS[name as keyof typeof MEANINGS] : undefined;
  const read = meaning as ((values: object) => Expression | undefined) | undefined;
  return [(values && read?.(values)) ?? { kind: 'unknown', name }];
}

function extension(
  kind: 'match' | 'target',
  { name = '', revision = 0, info = new Uint8Array() }: Attributes<'match'>,
): readonly Expression[] {
  const unknown = { kind: 'unknown', name: `iptables ${kind} ${name}` } as const;
  return expressionsOfExtension(kind, name, revision, Buffer.from(info)) ?? [unknown];
}

type Meanings = { readonly [Of in Name]?: (attributes: Attributes<Of>) => Expression | undefined };

/**
 * The meaning of the kernel's attributes; undefined if unknown. No attribute that affects verdicts is omitted: rules of
 * ours are compared by what is read.
 */
const MEANINGS = {
  payload: (its) => complete('payload', its, 'to', 'base', 'offset', 'length'),
  meta({ key, to, from }) {
    if (from !== undefined)
      return key === 'mark' || key === 'priority' ? complete('meta-set', { key, from }) : undefined;
    return complete('meta', { key, to });
  },
  ct({ key: its = 0, to, direction, from }) {
    const key = direction === 0 ? CT_ORIGINAL_KEYS[its] : CT_KEYS[its];
    if (from !== undefined) return { kind: 'indifferent', name: `ct ${key ?? its} set` };
    return complete('ct', { key, to });
  },
  fib({ to, result, flags = 0 }) {
    const field = (flags & FIB.SADDR) !== 0 ? 'saddr' : 'daddr';
    const exists = (flags & FIB.PRESENT) !== 0 && field === 'saddr';
    const others = flags & ~FIB[field === 'saddr' ? 'SADDR' : 'DADDR'];
    if (result !== FIB.ADDRESS_TYPE)
      return exists ? complete('fib', { to, field, result: 'exists' }) : undefined;
    return complete('fib', { to, field, result: 'type', ...(others !== 0 && { others }) });
  },
  cmp: (its) => complete('cmp', its, 'from', 'op', 'value'),
  range: ({ inverted = false, ...its }) => complete('range', { ...its, inverted }, 'from', 'first', 'last'),
  bitwise: ({ from, to, op = MASK_AND_XOR, mask, xor }) =>
    op === MASK_AND_XOR ? complete('bitwise', { from, to, mask, xor }) : undefined,
  byteorder: ({ from, to, length, size }) => complete('byteorder', { from, to, length, size }),
  lookup: ({ inverted = false, ...its }) => complete('lookup', { ...its, inverted }, 'set', 'from'),
  dynset({ expression, expressions: all, flags = 0, timeoutSeconds = 0, ...its }) {
    if (expression || all) return undefined;
    const fields = { ...its, timeoutSeconds, ...(flags !== 0 && { flags }) };
    return complete('remember', fields, 'set', 'from');
  },
  numgen({ to, modulus, offset = 0, type }) {
    return complete('random', { to, modulus, offset, ...(type === NUMBERS.inTurn && { inTurn: true }) });
  },
  hash({ type = JENKINS, offset = 0, ...its }) {
    const { to, modulus, from, seed } = its;
    if (type === JENKINS && from !== undefined && seed !== undefined)
      return complete('hash', { ...its, offset }, 'to', 'modulus', 'length');
    return complete('random', { to, modulus, offset, by: 'hash' });
  },
  immediate({ to, data: its }) {
    if (its?.verdict) return { kind: 'verdict', verdict: its.verdict };
    return complete('immediate', { to, value: its?.value });
  },
  nat: (its) => complete('nat', its, 'type'),
  masq({ flags = 0, ...ports }) {
    const others = flags & ~FULLY_RANDOM;
    const fullyRandom = (flags & FULLY_RANDOM) !== 0;
    return complete('masquerade', { ...ports, fullyRandom, ...(others !== 0 && { others }) }, 'fullyRandom');
  },
  reject: (its) => complete('reject', its),
  objref: ({ type, name }) =>
    type === OBJECT_COUNTER ? complete('count', { counter: name }) : { kind: 'indifferent', name: 'objref' },
  limit: ({ inverted = false }) => ({ kind: 'limit', inverted }),
} satisfies Meanings;

/**
 * An expression with these fields; undefined if one of them is missing, or a register is that of verdicts.
 * @param needed those that must be there; all of them if none are named
 */
function complete<Kind extends Expression['kind']>(
  kind: Kind,
  fields: object,
  ...needed: readonly (keyof Extract<Expression, { kind: Kind }>)[]
): Expression | undefined {
  const its = fields as Readonly<Record<string, unknown>>;
  const names = needed.length > 0 ? needed : Object.keys(its);
  if (names.some((name) => its[name as string] === undefined)) return undefined;
  const isVerdict = its.from === 'verdict' || (its.to === 'verdict' && kind !== 'lookup');
  return isVerdict ? undefined : ({ kind, ...its } as unknown as Expression);
}
