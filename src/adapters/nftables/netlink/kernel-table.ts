/** Converts listed tables into the form that rule interpreters follow. */

import type {
  KernelChain,
  KernelElement,
  KernelHook,
  KernelRule,
  KernelSet,
  KernelTable,
  CompareOperator,
  CtKey,
  Expression,
  KernelVerdict,
  MetaKey,
} from '../../../domain/nftables/kernel/ruleset.js';
import {
  verdictName,
  type DataRecord,
  type ExpressionName,
  type ExpressionRecord,
  type ExpressionValues,
  type VerdictRecord,
} from './expressions.js';
import { expressionsOfExtension } from './iptables-extension.js';
import { ELEMENT_FLAG, SET_FLAG, VERDICT_CODES, OBJECT_COUNTER } from './nf-tables.js';
import { HOOKS, type ChainRecord, type ElementRecord, type RuleRecord, type SetRecord } from './records.js';
import type { ListedTable } from './table-listing.js';

/** What was listed, in the terms in which packets are followed. */
export function kernelTable(
  family: KernelTable['family'],
  { table, chains, sets }: ListedTable<KernelRule>,
): KernelTable {
  const inOrder = [...chains.values()];
  return {
    family,
    name: table.name!,
    number: table.handle ?? 0,
    chains: new Chains(
      inOrder.map(({ chain, rules }, order) => [chain.name!, kernelChain(chain, order, rules)]),
    ),
    sets: new Map([...sets].map(([name, set]) => [name, kernelSet(name, set)])),
  };
}

/** Rules or elements that were read later may lead to a chain that was not there yet; nobody knows what is in it. */
class Chains extends Map<string, KernelChain> {
  override get(name: string): KernelChain {
    const unknown = {
      kind: 'unknown',
      name: `the chain ${name}, which came after the others were read`,
    } as const;
    return super.get(name) ?? { name, number: 0, rules: [{ expressions: [unknown] }] };
  }
}

/** @param order of chains that have no number yet, as nobody sent them to the kernel */
function kernelChain(
  { name, handle = 0, hook, type = '', policy }: ChainRecord,
  order: number,
  rules: readonly KernelRule[],
): KernelChain {
  const place = hook && HOOKS[hook.number ?? -1];
  const base: KernelHook | undefined = place && {
    type,
    hook: place,
    priority: (hook.priority ?? 0) | 0,
    policy: policy === VERDICT_CODES.drop ? 'drop' : 'accept',
  };
  return { name: name!, number: handle || order, ...(base && { hook: base }), rules };
}

export function kernelRule({ expressions = [], userdata }: RuleRecord): KernelRule {
  const comment = userdata?.comment;
  return { expressions: expressions.flatMap(kernelExpressions), ...(comment !== undefined && { comment }) };
}

function kernelSet(
  name: string,
  { flags = 0, keyLength = 0, timeout = 0, description }: SetRecord,
): KernelSet {
  const lengths = (description?.fields ?? []).map(({ length = 0 }) => length);
  const ranges = lengths.length > 1 ? lengths : ('single' as const);
  return {
    name,
    keyLength,
    ...((flags & SET_FLAG.INTERVAL) !== 0 && { ranges }),
    ...(timeout > 0 && { timeoutSeconds: timeout / 1000 }),
  };
}

export function kernelElement({ key, lastKey, data, flags = 0, userdata }: ElementRecord): KernelElement {
  const comment = userdata?.comment;
  return {
    ...(key?.value && { key: key.value }),
    ...(lastKey?.value && { lastKey: lastKey.value }),
    ...(data?.value && { value: data.value }),
    ...(data?.verdict && { verdict: kernelVerdict(data.verdict) }),
    ...((flags & ELEMENT_FLAG.INTERVAL_END) !== 0 && { isEnd: true }),
    ...(comment !== undefined && { comment }),
  };
}

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

/** Of numgen. */
const INCREMENTAL = 0;

/** Of hash. */
const JENKINS = 0;

/** They change or watch things that no rule of a first packet asks about. */
const INDIFFERENT: ReadonlySet<string> = new Set(['counter', 'log', 'quota', 'notrack', 'last']);

/** An expression as a trace follows it; several for an extension of iptables. What is not known becomes `unknown`. */
function kernelExpressions({ name, values }: ExpressionRecord): readonly Expression[] {
  if (INDIFFERENT.has(name)) return [{ kind: 'indifferent', name }];
  if (name === 'match' || name === 'target') return extension(name, values ?? {});
  const read = Object.hasOwn(MEANINGS, name) ? MEANINGS[name as keyof typeof MEANINGS] : undefined;
  const meaning = read as ((values: object) => Expression | undefined) | undefined;
  return [(values && meaning?.(values)) ?? { kind: 'unknown', name }];
}

function extension(
  kind: 'match' | 'target',
  { name = '', revision = 0, info = Buffer.alloc(0) }: ExpressionValues<'match'>,
): readonly Expression[] {
  const unknown = { kind: 'unknown', name: `iptables ${kind} ${name}` } as const;
  return expressionsOfExtension(kind, name, revision, info) ?? [unknown];
}

type Meanings = {
  readonly [Name in ExpressionName]?: (values: ExpressionValues<Name>) => Expression | undefined;
};

/** Undefined where the expression has a form that is not known. */
const MEANINGS = {
  payload({ dreg, base = 0, offset = 0, length = 0 }) {
    const to = register(dreg);
    const header = BASES[base];
    return to === undefined || !header ? undefined : { kind: 'payload', to, base: header, offset, length };
  },
  meta({ dreg, sreg, key: number = 0 }) {
    const key = META_KEYS[number];
    const [to, from] = [register(dreg), register(sreg)];
    if (from !== undefined)
      return key === 'mark' || key === 'priority' ? { kind: 'meta-set', from, key } : undefined;
    return key && to !== undefined ? { kind: 'meta', to, key } : undefined;
  },
  ct({ dreg, sreg, direction, key: number = 0 }) {
    const key = direction === 0 ? CT_ORIGINAL_KEYS[number] : CT_KEYS[number];
    const to = register(dreg);
    if (sreg !== undefined) return { kind: 'indifferent', name: `ct ${key ?? number} set` };
    return key && to !== undefined ? { kind: 'ct', to, key } : undefined;
  },
  fib({ dreg, result, flags = 0 }) {
    const to = register(dreg);
    if (to === undefined) return undefined;
    const field = (flags & FIB.SADDR) !== 0 ? 'saddr' : 'daddr';
    if (result === FIB.ADDRESS_TYPE) return { kind: 'fib', to, field, result: 'type' };
    const asksForSourceRoute = (flags & FIB.PRESENT) !== 0 && field === 'saddr';
    return asksForSourceRoute ? { kind: 'fib', to, field, result: 'exists' } : undefined;
  },
  cmp({ sreg, op: number = 0, data }) {
    const from = register(sreg);
    const op = OPERATORS[number];
    return from !== undefined && op && data?.value ? { kind: 'cmp', from, op, value: data.value } : undefined;
  },
  range({ sreg, op, from: first, to: last }) {
    const from = register(sreg);
    if (from === undefined || !first?.value || !last?.value) return undefined;
    return { kind: 'range', from, inverted: op === INVERTED, first: first.value, last: last.value };
  },
  bitwise({ sreg, dreg, mask, xor, op = MASK_AND_XOR }) {
    const [from, to] = [register(sreg), register(dreg)];
    if (from === undefined || to === undefined || !mask?.value || !xor?.value) return undefined;
    return op === MASK_AND_XOR ? { kind: 'bitwise', from, to, mask: mask.value, xor: xor.value } : undefined;
  },
  byteorder({ sreg, dreg, length = 0, size = 0 }) {
    const [from, to] = [register(sreg), register(dreg)];
    return from === undefined || to === undefined ? undefined : { kind: 'byteorder', from, to, length, size };
  },
  lookup({ set = '', sreg, dreg, flags = 0 }) {
    const from = register(sreg);
    if (from === undefined) return undefined;
    const to = dreg === undefined ? undefined : (register(dreg) ?? ('verdict' as const));
    const inverted = (flags & INVERTED) !== 0;
    return { kind: 'lookup', set, from, inverted, ...(to !== undefined && { to }) };
  },
  dynset({ set = '', key, timeout = 0, expression, expressions }) {
    const from = register(key);
    if (from === undefined || expression || expressions) return undefined;
    return { kind: 'remember', set, from, timeoutSeconds: timeout / 1000 };
  },
  numgen: ({ dreg, modulus = 0, offset = 0, type }) => random(dreg, modulus, offset, type === INCREMENTAL),
  hash({ sreg, dreg, length = 0, modulus, seed, offset = 0, type = JENKINS }) {
    if (modulus === undefined) return undefined;
    const [from, to] = [register(sreg), register(dreg)];
    if (type !== JENKINS || from === undefined || to === undefined || seed === undefined)
      return random(dreg, modulus, offset);
    return { kind: 'hash', from, length, to, modulus, offset, seed };
  },
  immediate({ dreg, data }) {
    const { value, verdict }: DataRecord = data ?? {};
    if (verdict) return { kind: 'verdict', verdict: kernelVerdict(verdict) };
    const to = register(dreg);
    return to !== undefined && value ? { kind: 'immediate', to, value } : undefined;
  },
  nat({ type, 'address-min': addressMin, 'port-min': portMin }) {
    const [address, port] = [register(addressMin), register(portMin)];
    return {
      kind: 'nat',
      type: type === 1 ? 'dnat' : 'snat',
      ...(address !== undefined && { address }),
      ...(port !== undefined && { port }),
    };
  },
  masq: ({ flags = 0 }) => ({ kind: 'masquerade', fullyRandom: (flags & FULLY_RANDOM) !== 0 }),
  reject: () => ({ kind: 'reject' }),
  objref: ({ type, name = '' }) => ({
    kind: 'indifferent',
    name: type === OBJECT_COUNTER ? `counter name "${name}"` : 'objref',
  }),
  limit: ({ flags = 0 }) => ({ kind: 'limit', inverted: (flags & INVERTED) !== 0 }),
} satisfies Meanings;

function random(
  dreg: number | undefined,
  modulus: number,
  offset: number,
  isInTurn = false,
): Expression | undefined {
  const to = register(dreg);
  if (to === undefined) return undefined;
  return { kind: 'random', to, modulus, offset, ...(isInTurn && { inTurn: true }) };
}

/** The first byte of a register; undefined for that of verdicts, or if there is none. */
function register(number = 0): number | undefined {
  if (number >= 8) return (number - 8) * 4;
  return number >= 1 ? (number - 1) * 16 : undefined;
}

const CONTINUE = 0xffffffff;
const QUEUE = 3;

function kernelVerdict({ code = 0, chain }: VerdictRecord): KernelVerdict {
  const name = verdictName(code) ?? otherVerdict(code);
  return chain === undefined ? { code: name } : { code: name, chain };
}

function otherVerdict(code: number): KernelVerdict['code'] {
  if (code === CONTINUE) return 'continue';
  return (code & 0xff) === QUEUE ? 'queue' : 'accept';
}
