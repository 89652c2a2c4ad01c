import type { CompareOperator, Expression, CtKey, MetaKey } from '../../../domain/nftables/kernel/ruleset.js';
import { padded, verdictOf, bounds, encoded, isBitmask, LENGTHS, type DataType } from './encode-value.js';
import { held, kindOf, type ListedRule, type ListedTable, type Statement, type Value } from './listing.js';
import { ADDRESSES } from '../../../domain/nftables/layout/table.js';

/** The expressions of a rule, as the kernel would list them. What is not understood becomes `unknown`. */
export function compileRule(
  { statements }: ListedRule,
  table: ListedTable,
  sets: KnownSets,
): readonly Expression[] {
  return statements.flatMap((statement) => {
    const compiled = new StatementCompiler(table.family, sets).compile(statement);
    return compiled ?? [{ kind: 'unknown', name: JSON.stringify(statement) } as const];
  });
}

/** What sets of a table are called, and the types of what they hold. */
export interface KnownSets {
  typesOf(name: string): readonly DataType[] | undefined;
  valuesOf(name: string): readonly DataType[] | 'verdict' | undefined;
  timeoutOf(name: string): number;
  /** Adds a set without a name. Undefined where its elements are not understood. */
  add(
    types: readonly DataType[],
    values: readonly DataType[] | 'verdict' | undefined,
    elements: readonly Value[],
  ): string | undefined;
}

const META: Readonly<Record<string, readonly [MetaKey, DataType]>> = {
  l4proto: ['l4proto', 'inet_proto'],
  mark: ['mark', 'mark'],
  iifname: ['iifname', 'ifname'],
  oifname: ['oifname', 'ifname'],
  nfproto: ['nfproto', 'nf_proto'],
  protocol: ['protocol', 'ether_type'],
};
const CT: Readonly<Record<string, readonly [CtKey, DataType]>> = {
  state: ['state', 'ct_state'],
  status: ['status', 'ct_status'],
  direction: ['direction', 'ct_dir'],
  mark: ['mark', 'mark'],
  'ip saddr': ['original saddr', 'ipv4_addr'],
  'ip daddr': ['original daddr', 'ipv4_addr'],
  'ip6 saddr': ['original saddr', 'ipv6_addr'],
  'ip6 daddr': ['original daddr', 'ipv6_addr'],
  'proto-dst': ['original dport', 'inet_service'],
};
/** Puts what nft lists as expressions of a packet into registers. */
class ValueLoader {
  /** What does so, in its order. */
  protected readonly before: Expression[] = [];

  constructor(
    protected readonly family: ListedTable['family'],
    protected readonly sets: KnownSets,
  ) {}

  /** The name of a set, or of one that is made of elements; undefined if that is not understood. */
  protected setOf(
    data: Value,
    types: readonly DataType[],
    values: readonly DataType[] | 'verdict' | undefined,
  ): string | undefined {
    if (typeof data === 'string') {
      const name = data.replace(/^@/, '');
      return this.sets.typesOf(name) ? name : undefined;
    }
    const elements = held<readonly Value[]>(data, 'set');
    return elements && this.sets.add(types, values, elements);
  }

  /**
   * Puts an expression into registers, and returns the types of its parts; undefined if it is not understood.
   * @param values what a map without a name has
   */
  protected load(
    value: Value,
    to: number,
    values: readonly DataType[] = [],
  ): readonly DataType[] | undefined {
    const kind = kindOf(value);
    const fields = kind === undefined ? undefined : held<Readonly<Record<string, Value>>>(value, kind);
    if (kind === undefined || fields === undefined) return undefined;
    switch (kind) {
      case 'concat':
        return this.concatenation(fields as unknown as readonly Value[], to);
      case 'payload':
        return this.payload(String(fields.protocol), String(fields.field), to);
      case 'meta':
        return this.put(META[String(fields.key)], ([key]) => ({ kind: 'meta', to, key }));
      case 'ct':
        if (fields.dir === 'reply') return undefined;
        return this.put(CT[String(fields.key)], ([key]) => ({ kind: 'ct', to, key }));
      case 'fib':
        return this.fib(fields, to);
      case 'numgen':
        this.before.push({
          kind: 'random',
          to,
          modulus: Number(fields.mod),
          offset: Number(fields.offset ?? 0),
        });
        return ['number'];
      case 'map': {
        const types = this.load(fields.key, to);
        const set = types && this.setOf(fields.data, types, values);
        if (set === undefined) return undefined;
        this.before.push({ kind: 'lookup', set, from: to, to, inverted: false });
        const found = this.sets.valuesOf(set);
        return found === 'verdict' ? undefined : found;
      }
      case '&':
      case '|':
      case '^':
        return this.bits(kind, fields as unknown as readonly Value[], to);
      default:
        return undefined;
    }
  }

  private put<Known extends readonly [string, DataType]>(
    known: Known | undefined,
    expression: (known: Known) => Expression,
  ): readonly DataType[] | undefined {
    if (!known) return undefined;
    this.before.push(expression(known));
    return [known[1]];
  }

  private concatenation(parts: readonly Value[], to: number): readonly DataType[] | undefined {
    const types: DataType[] = [];
    let at = to;
    for (const part of parts) {
      const [type] = this.load(part, at) ?? [];
      if (!type) return undefined;
      types.push(type);
      at += padded(LENGTHS[type]);
    }
    return types;
  }

  private payload(protocol: string, field: string, to: number): readonly DataType[] | undefined {
    if (protocol === 'ip' || protocol === 'ip6') {
      const family = protocol === 'ip' ? 'IPv4' : 'IPv6';
      if (this.family === 'inet') this.require('nfproto', Uint8Array.of(protocol === 'ip' ? 2 : 10));
      const type: DataType = protocol === 'ip' ? 'ipv4_addr' : 'ipv6_addr';
      if (field === 'saddr' || field === 'daddr') {
        const offset = ADDRESSES[family][field];
        this.before.push({ kind: 'payload', to, base: 'network', offset, length: LENGTHS[type] });
        return [type];
      }
      if (field !== 'protocol' && field !== 'nexthdr') return undefined;
      this.before.push({
        kind: 'payload',
        to,
        base: 'network',
        offset: protocol === 'ip' ? 9 : 6,
        length: 1,
      });
      return ['inet_proto'];
    }
    const offset = { sport: 0, dport: 2 }[field];
    if (offset === undefined) return undefined;
    const number = protocol === 'th' ? undefined : encoded(protocol, 'inet_proto');
    if (protocol !== 'th' && !number) return undefined;
    if (number) this.require('l4proto', number);
    this.before.push({ kind: 'payload', to, base: 'transport', offset, length: 2 });
    return ['inet_service'];
  }

  /** A field is there only in packets of its protocol, about which nft says nothing. It stands before what is in registers. */
  private require(key: MetaKey, value: Uint8Array): void {
    this.before.unshift({ kind: 'meta', to: 0, key }, { kind: 'cmp', from: 0, op: '==', value });
  }

  private fib(
    { flags, result }: Readonly<Record<string, Value>>,
    to: number,
  ): readonly DataType[] | undefined {
    const all = (Array.isArray(flags) ? flags : [flags]).map(String);
    const field = all.includes('saddr') ? 'saddr' : 'daddr';
    if (result !== 'type' || all.length > 1) return undefined;
    this.before.push({ kind: 'fib', to, field, result: 'type' });
    return ['fib_addrtype'];
  }

  /** With a constant on the right: result: value & mask ^ xor. */
  private bits(
    operator: '&' | '|' | '^',
    [left, right]: readonly Value[],
    to: number,
  ): readonly DataType[] | undefined {
    const types = this.load(left, to);
    const type = types?.length === 1 ? types[0] : undefined;
    const constant = type && encoded(right, type);
    if (!type || !constant) return undefined;
    const none = new Uint8Array(constant.length);
    const all = none.map(() => 0xff);
    const inverse = constant.map((byte) => ~byte & 0xff);
    const mask = { '&': constant, '|': inverse, '^': all }[operator];
    this.before.push({ kind: 'bitwise', from: to, to, mask, xor: operator === '&' ? none : constant });
    return [type];
  }
}

const NOTHING: ReadonlySet<string> = new Set(['counter', 'log', 'comment']);

class StatementCompiler extends ValueLoader {
  compile(statement: Statement): readonly Expression[] | undefined {
    const kind = kindOf(statement) ?? '';
    const verdict = verdictOf(statement);
    if (verdict) return [{ kind: 'verdict', verdict }];
    if (NOTHING.has(kind)) return [{ kind: 'indifferent', name: kind }];
    const compiled = this.statement(kind, statement[kind]);
    return compiled && [...this.before, ...compiled];
  }

  private statement(kind: string, content: unknown): readonly Expression[] | undefined {
    const fields = (content ?? {}) as Readonly<Record<string, Value>>;
    switch (kind) {
      case 'match':
        return this.match(fields);
      case 'vmap': {
        const types = this.load(fields.key, 0);
        const set = types && this.setOf(fields.data, types, 'verdict');
        return set === undefined
          ? undefined
          : [{ kind: 'lookup', set, from: 0, to: 'verdict', inverted: false }];
      }
      case 'mangle':
        return this.mangle(fields);
      case 'dnat':
      case 'snat':
        return this.translation(kind, fields);
      case 'masquerade':
        return [{ kind: 'masquerade', fullyRandom: JSON.stringify(fields).includes('fully-random') }];
      case 'reject':
        return [{ kind: 'reject' }];
      case 'limit':
        return [{ kind: 'limit', inverted: fields.inv === true }];
      case 'set':
        return this.remember(fields);
      default:
        return undefined;
    }
  }

  private match({ op, left, right }: Readonly<Record<string, Value>>): readonly Expression[] | undefined {
    const types = this.load(left, 0);
    if (!types) return undefined;
    const inverted = op === '!=';
    const list = held<readonly Value[]>(right, 'set');
    if (list || (typeof right === 'string' && right.startsWith('@'))) {
      const set = this.setOf(right, types, undefined);
      return set === undefined ? undefined : [{ kind: 'lookup', set, from: 0, inverted }];
    }
    const [type] = types;
    if (types.length !== 1 || !type) return undefined;
    const limits = bounds(right, type);
    if (limits) return [{ kind: 'range', from: 0, inverted, first: limits[0], last: limits[1] }];
    const value = encoded(right, type);
    if (!value) return undefined;
    if (isBitmask(type) && (op === 'in' || Array.isArray(right)))
      return [
        { kind: 'bitwise', from: 0, to: 0, mask: value, xor: new Uint8Array(4) },
        { kind: 'cmp', from: 0, op: '!=', value: new Uint8Array(4) },
      ];
    return [{ kind: 'cmp', from: 0, op: op === 'in' ? '==' : (op as CompareOperator), value }];
  }

  private mangle({ key, value }: Readonly<Record<string, Value>>): readonly Expression[] | undefined {
    if (held<{ readonly key: string }>(key, 'meta')?.key !== 'mark') return undefined;
    const types = this.load(value, 0) ?? this.constant(value, 'mark');
    return types?.length === 1 ? [{ kind: 'meta-set', from: 0, key: 'mark' }] : undefined;
  }

  private translation(
    type: 'dnat' | 'snat',
    { addr, port }: Readonly<Record<string, Value>>,
  ): readonly Expression[] | undefined {
    const address = this.family === 'ip6' || String(addr).includes(':') ? 'ipv6_addr' : 'ipv4_addr';
    const portAt = padded(LENGTHS[address]);
    if (kindOf(addr) === undefined) {
      if (addr !== undefined && !this.constant(addr, address)) return undefined;
      const number = port === undefined ? undefined : encoded(port, 'inet_service');
      if (port !== undefined && !number) return undefined;
      if (number) this.before.push({ kind: 'immediate', to: portAt, value: number });
      return [
        {
          kind: 'nat',
          type,
          ...(addr !== undefined && { address: 0 }),
          ...(number && { port: portAt }),
        },
      ];
    }
    const types = port === undefined ? this.load(addr, 0, [address, 'inet_service']) : undefined;
    if (!types) return undefined;
    return [{ kind: 'nat', type, address: 0, ...(types.length > 1 && { port: portAt }) }];
  }

  private remember({
    op,
    elem,
    set: name,
  }: Readonly<Record<string, Value>>): readonly Expression[] | undefined {
    const timed = held<{ readonly val: Value; readonly timeout?: number }>(elem, 'elem');
    const set = String(name).replace(/^@/, '');
    if (op === 'delete' || !this.load(timed?.val ?? elem, 0) || !this.sets.typesOf(set)) return undefined;
    const timeoutSeconds = timed?.timeout ?? this.sets.timeoutOf(set);
    return [{ kind: 'remember', set, from: 0, timeoutSeconds }];
  }

  private constant(value: Value, type: DataType): readonly DataType[] | undefined {
    const bytes = encoded(value, type);
    if (bytes) this.before.push({ kind: 'immediate', to: 0, value: bytes });
    return bytes && [type];
  }
}
