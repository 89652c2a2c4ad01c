import type {
  CompareOperator,
  CtKey,
  Expression,
  KernelRule,
  KernelTable,
  MetaKey,
} from '../../../domain/nftables/kernel/ruleset.js';
import { ADDRESSES } from '../../../domain/nftables/layout/table.js';
import type { Tokens } from './tokens.js';
import {
  isBitmask,
  LENGTHS,
  padded,
  takeConcatenation,
  takeLiteral,
  takeOptions,
  takeSet,
  takeVerdict,
  valueOf,
  type DataType,
  type ListedSet,
  type SetTypes,
} from './values.js';

/** The sets of a table, which rules look into. */
export interface TableSets {
  readonly types: ReadonlyMap<string, SetTypes>;
  /** By default, of elements that rules add. */
  readonly timeouts: ReadonlyMap<string, number>;
  /** Adds a set that has no name of its own. @returns the name that it gets */
  add(make: (name: string) => ListedSet | undefined, types: SetTypes): string | undefined;
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
const OPERATORS: ReadonlySet<string> = new Set(['==', '!=', '<', '>', '<=', '>=']);
const BITWISE: ReadonlySet<string> = new Set(['&', '|', '^']);
const HEADERS: ReadonlySet<string> = new Set(['ip', 'ip6', 'icmp', 'icmpv6', 'tcp', 'udp', 'sctp', 'th']);
/** Keys of `meta` that are listed without that word. */
const BARE_META: ReadonlySet<string> = new Set(['iif', 'oif', 'iifname', 'oifname']);
const LOG_OPTIONS: ReadonlySet<string> = new Set([
  'prefix',
  'level',
  'group',
  'flags',
  'snaplen',
  'queue-threshold',
]);

/** Reads one rule, up to the end of its line. What is not understood becomes `unknown`. */
export function parseRule(tokens: Tokens, family: KernelTable['family'], sets: TableSets): KernelRule {
  const expressions: Expression[] = [];
  let comment: string | undefined;
  for (; !tokens.isAtEndOfLine; tokens.takes(';')) {
    if (tokens.takes('comment')) {
      comment = tokens.take();
      continue;
    }
    const { place } = tokens;
    const parsed = new StatementParser(tokens, family, sets).parse();
    expressions.push(...(parsed ?? [{ kind: 'unknown', name: tokens.takenFrom(place) } as const]));
  }
  return { expressions, ...(comment !== undefined && { comment }) };
}

/** The types of what was put into registers; `unknown` where that is not understood. */
type Loaded = readonly DataType[] | 'unknown';

class StatementParser {
  /** What puts values into registers, in its order. */
  private readonly before: Expression[] = [];

  constructor(
    private readonly tokens: Tokens,
    private readonly family: KernelTable['family'],
    private readonly sets: TableSets,
  ) {}

  /** Takes a statement, and returns its expressions; undefined if they are not understood. */
  parse(): readonly Expression[] | undefined {
    const verdict = takeVerdict(this.tokens);
    if (verdict) return [{ kind: 'verdict', verdict }];
    const parsed = this.statement();
    return parsed && [...this.before, ...parsed];
  }

  private statement(): readonly Expression[] | undefined {
    const { tokens } = this;
    switch (tokens.isQuoted ? '' : tokens.next) {
      case 'counter':
        tokens.take();
        if (tokens.takes('packets')) for (let word = 0; word < 3; word++) tokens.take();
        return [{ kind: 'indifferent', name: 'counter' }];
      case 'log':
        tokens.take();
        while (LOG_OPTIONS.has(tokens.next)) for (let word = 0; word < 2; word++) tokens.take();
        return [{ kind: 'indifferent', name: 'log' }];
      case 'reject':
        tokens.take();
        // `with icmp port-unreachable`, `with icmpx type admin-prohibited`, `with tcp reset`.
        if (tokens.takes('with')) {
          tokens.take();
          tokens.takes('type');
          tokens.take();
        }
        return [{ kind: 'reject' }];
      case 'masquerade': {
        tokens.take();
        const flags: string[] = [];
        while (/^(?:random|fully-random|persistent)/.test(tokens.next)) flags.push(tokens.take());
        return [{ kind: 'masquerade', fullyRandom: flags.join().includes('fully-random') }];
      }
      case 'limit': {
        tokens.take();
        tokens.takes('rate');
        const inverted = tokens.takes('over');
        tokens.take();
        if (tokens.takes('burst')) for (let word = 0; word < 2; word++) tokens.take();
        return [{ kind: 'limit', inverted }];
      }
      case 'dnat':
      case 'snat':
        return this.translation(tokens.take() as 'dnat' | 'snat');
      case 'update':
      case 'add':
        return this.remembering();
    }
    return tokens.peek(2) === 'set' ? this.mangling() : this.matching();
  }

  private matching(): readonly Expression[] | undefined {
    const { tokens } = this;
    const types = this.load(0);
    if (!types) {
      tokens.take();
      return this.giveUp();
    }
    if (tokens.takes('vmap')) {
      const set = this.data({ key: types, value: 'verdict' });
      return set === undefined
        ? undefined
        : [{ kind: 'lookup', set, from: 0, to: 'verdict', inverted: false }];
    }
    const op = OPERATORS.has(tokens.next) ? (tokens.take() as CompareOperator) : undefined;
    const inverted = op === '!=';
    if (!tokens.isQuoted && /^[@{]/.test(tokens.next)) {
      const set = this.data({ key: types });
      return set === undefined ? undefined : [{ kind: 'lookup', set, from: 0, inverted }];
    }
    const [type, ...others] = types === 'unknown' ? [] : types;
    const isList = tokens.next.includes(',');
    const value = takeConcatenation(tokens, type && others.length === 0 ? [type] : []);
    if (!type || !value) return undefined;
    const { first, last, isRange } = value;
    if (isRange) return [{ kind: 'range', from: 0, inverted, first, last }];
    if (isBitmask(type) && (op === undefined || isList))
      return [
        { kind: 'bitwise', from: 0, to: 0, mask: first, xor: new Uint8Array(4) },
        { kind: 'cmp', from: 0, op: '!=', value: new Uint8Array(4) },
      ];
    return [{ kind: 'cmp', from: 0, op: op ?? '==', value: first }];
  }

  /** `meta mark set …`. */
  private mangling(): readonly Expression[] | undefined {
    const { tokens } = this;
    const isMark = `${tokens.take()} ${tokens.take()}` === 'meta mark';
    tokens.expect('set');
    const types = this.load(0) ?? this.constant('mark');
    return isMark && types?.length === 1 ? [{ kind: 'meta-set', from: 0, key: 'mark' }] : undefined;
  }

  /** `dnat ip to ADDRESS`, with a port behind a colon, or a map that has both. */
  private translation(type: 'dnat' | 'snat'): readonly Expression[] | undefined {
    const { tokens } = this;
    if (tokens.next === 'ip' || tokens.next === 'ip6') tokens.take();
    if (!tokens.takes('to')) return this.giveUp();
    const [, bracketed, plain, port] = /^(?:\[([\da-f:.]+)\]|([\d.]+))?:(\d+)$/i.exec(tokens.next) ?? [];
    const host = port === undefined ? tokens.next : (bracketed ?? plain);
    const address = this.family === 'ip6' || host?.includes(':') ? 'ipv6_addr' : 'ipv4_addr';
    const portAt = padded(LENGTHS[address]);
    const types = port === undefined ? this.load(0, [address, 'inet_service']) : undefined;
    if (types)
      return types === 'unknown'
        ? undefined
        : [{ kind: 'nat', type, address: 0, ...(types.length > 1 && { port: portAt }) }];
    if (port === undefined)
      return this.constant(address) ? [{ kind: 'nat', type, address: 0 }] : this.giveUp();
    tokens.take();
    for (const [text, to, of] of [
      [host, 0, address],
      [port, portAt, 'inet_service'],
    ] as const) {
      const value = text === undefined ? undefined : valueOf(text, of);
      if (value) this.before.push({ kind: 'immediate', to, value });
      else if (text !== undefined) return undefined;
    }
    return [{ kind: 'nat', type, ...(host !== undefined && { address: 0 }), port: portAt }];
  }

  /** `update @set { key timeout 10s }`. */
  private remembering(): readonly Expression[] | undefined {
    const { tokens } = this;
    tokens.take();
    const set = tokens.take().replace(/^@/, '');
    tokens.expect('{');
    const types = this.load(0);
    const { timeout = this.sets.timeouts.get(set) ?? 0 } = takeOptions(tokens);
    if (!tokens.takes('}')) {
      tokens.skipBlock();
      return undefined;
    }
    if (!types || types === 'unknown' || !this.sets.types.has(set)) return undefined;
    return [{ kind: 'remember', set, from: 0, timeoutSeconds: timeout }];
  }

  /** The rest of the rule is not understood. */
  private giveUp(): undefined {
    this.tokens.restOfLine();
  }

  private constant(type: DataType): readonly DataType[] | undefined {
    const value = takeLiteral(this.tokens, type);
    if (!value || value.isRange) return undefined;
    this.before.push({ kind: 'immediate', to: 0, value: value.first });
    return [type];
  }

  /** The name of a set that follows, or of one that is made of elements; undefined if that is not understood. */
  private data({
    key,
    value,
  }: {
    readonly key: Loaded;
    readonly value?: SetTypes['value'];
  }): string | undefined {
    const { tokens } = this;
    if (tokens.next !== '{') {
      const name = tokens.take().replace(/^@/, '');
      return key !== 'unknown' && this.sets.types.has(name) ? name : undefined;
    }
    const types = { key: key === 'unknown' ? [] : key, value };
    return this.sets.add((name) => takeSet(tokens, name, types), types);
  }

  /**
   * Takes an expression about the packet, with what is done to it, and puts it into registers. Undefined if it is none, and nothing was taken.
   * @param values what a map without a name has
   */
  private load(to: number, values: readonly DataType[] = []): Loaded | undefined {
    const { tokens } = this;
    let types = this.single(to);
    if (!types) return undefined;
    let at = to;
    while (tokens.takes('.')) {
      if (types !== 'unknown') at += padded(LENGTHS[types.at(-1)!]);
      const next: Loaded | undefined = this.single(at);
      if (!next) tokens.take();
      types = next && next !== 'unknown' && types !== 'unknown' ? [...types, ...next] : 'unknown';
    }
    while (BITWISE.has(tokens.next)) types = this.bits(tokens.take() as '&' | '|' | '^', types, to);
    if (!tokens.takes('map')) return types;
    const set = this.data({ key: types, value: values });
    const found = set === undefined ? undefined : this.sets.types.get(set)?.value;
    if (set === undefined || !found || found === 'verdict') return 'unknown';
    this.before.push({ kind: 'lookup', set, from: to, to, inverted: false });
    return found;
  }

  private single(to: number): Loaded | undefined {
    const { tokens } = this;
    const word = tokens.isQuoted ? '' : tokens.next;
    if (BARE_META.has(word)) return this.put(META[tokens.take()], (key) => ({ kind: 'meta', to, key }));
    if (HEADERS.has(word)) return this.payload(tokens.take(), tokens.take(), to);
    switch (word) {
      case 'meta':
        tokens.take();
        return this.put(META[tokens.take()], (key) => ({ kind: 'meta', to, key }));
      case 'ct': {
        tokens.take();
        const isReply = tokens.takes('reply');
        tokens.takes('original');
        const family = tokens.next === 'ip' || tokens.next === 'ip6' ? `${tokens.take()} ` : '';
        const known = CT[family + tokens.take()];
        return this.put(isReply ? undefined : known, (key) => ({ kind: 'ct', to, key }));
      }
      case 'fib': {
        // `fib daddr type`, `fib saddr . iif oif`.
        tokens.take();
        const field = tokens.take();
        const isAlone = tokens.next !== '.';
        while (tokens.takes('.')) tokens.take();
        if (tokens.take() !== 'type' || !isAlone) return 'unknown';
        this.before.push({ kind: 'fib', to, field: field === 'saddr' ? 'saddr' : 'daddr', result: 'type' });
        return ['fib_addrtype'];
      }
      case 'numgen': {
        // `numgen random mod 3 offset 1`.
        for (let taken = 0; taken < 3; taken++) tokens.take();
        const modulus = Number(tokens.take());
        const offset = tokens.takes('offset') ? Number(tokens.take()) : 0;
        this.before.push({ kind: 'random', to, modulus, offset });
        return ['number'];
      }
      default:
        return undefined;
    }
  }

  private put<Key>(
    known: readonly [Key, DataType] | undefined,
    expression: (key: Key) => Expression,
  ): Loaded {
    if (!known) return 'unknown';
    this.before.push(expression(known[0]));
    return [known[1]];
  }

  private payload(protocol: string, field: string, to: number): Loaded {
    if (protocol === 'ip' || protocol === 'ip6') {
      const [family, number, type, offset] =
        protocol === 'ip' ? (['IPv4', 2, 'ipv4_addr', 9] as const) : (['IPv6', 10, 'ipv6_addr', 6] as const);
      if (this.family === 'inet') this.require('nfproto', Uint8Array.of(number));
      const base = { kind: 'payload', to, base: 'network' } as const;
      if (field === 'saddr' || field === 'daddr') {
        this.before.push({ ...base, offset: ADDRESSES[family][field], length: LENGTHS[type] });
        return [type];
      }
      if (field !== 'protocol' && field !== 'nexthdr') return 'unknown';
      this.before.push({ ...base, offset, length: 1 });
      return ['inet_proto'];
    }
    const number = protocol === 'th' ? undefined : valueOf(protocol, 'inet_proto');
    if ((field !== 'sport' && field !== 'dport') || (protocol !== 'th' && !number)) return 'unknown';
    if (number) this.require('l4proto', number);
    this.before.push({
      kind: 'payload',
      to,
      base: 'transport',
      offset: field === 'sport' ? 0 : 2,
      length: 2,
    });
    return ['inet_service'];
  }

  /** A field is there only in packets of its protocol, about which nft says nothing. It stands before what is in registers. */
  private require(key: MetaKey, value: Uint8Array): void {
    this.before.unshift({ kind: 'meta', to: 0, key }, { kind: 'cmp', from: 0, op: '==', value });
  }

  /** With a constant on the right: result: value & mask ^ xor. */
  private bits(operator: '&' | '|' | '^', types: Loaded, to: number): Loaded {
    if (this.single(to)) return 'unknown';
    const type = types !== 'unknown' && types.length === 1 ? types[0] : undefined;
    const constant = takeLiteral(this.tokens, type)?.first;
    if (!type || !constant) return 'unknown';
    const none = new Uint8Array(constant.length);
    const all = none.map(() => 0xff);
    const inverse = constant.map((byte) => ~byte & 0xff);
    const mask = { '&': constant, '|': inverse, '^': all }[operator];
    this.before.push({ kind: 'bitwise', from: to, to, mask, xor: operator === '&' ? none : constant });
    return [type];
  }
}
