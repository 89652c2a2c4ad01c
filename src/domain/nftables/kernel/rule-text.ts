import type { IpFamily } from '../../net/ip-family.js';
import { protocolText } from '../../model/service-port-name.js';
import { hostPort } from '../../net/address.js';
import { formatPriority, ADDRESSES } from '../layout/table.js';
import { hex, readHostWord, readNetworkHalf, addressText } from './bytes.js';
import type { Expression, KernelVerdict, KernelRule } from './ruleset.js';

/** The content of a register, in words. */
interface Value {
  readonly text: string;
  /** Missing: a number. */
  readonly form?: 'address' | 'port' | 'protocol' | 'name' | 'priority' | 'state' | 'status' | 'route';
  /** Set by `&`: the bits that count. */
  readonly mask?: Uint8Array;
  readonly xor?: Uint8Array;
  /** If they are constant. */
  readonly bytes?: Uint8Array;
}

/** A rule much as `nft list` prints it. */
export function ruleText({ expressions, comment }: KernelRule, family: IpFamily): string {
  const writer = new RuleWriter(family);
  for (const expression of expressions) writer.write(expression);
  const { texts } = writer;
  if (comment !== undefined) texts.push(`comment "${comment}"`);
  return texts.join(' ');
}

class RuleWriter {
  readonly texts: string[] = [];
  private readonly registers = new Map<number, Value>();

  constructor(private readonly family: IpFamily) {}

  write(expression: Expression): void {
    const { registers, texts } = this;
    switch (expression.kind) {
      case 'payload':
        registers.set(expression.to, this.payload(expression));
        return;
      case 'meta':
        registers.set(expression.to, metaText(expression.key));
        return;
      case 'ct':
        registers.set(expression.to, ctText(expression.key));
        return;
      case 'fib':
        registers.set(expression.to, {
          text: `fib ${expression.field} ${expression.result === 'type' ? 'type' : 'oif'}`,
          form: 'route',
        });
        return;
      case 'bitwise': {
        const { from, to, mask, xor } = expression;
        registers.set(to, { ...this.value(from), mask, xor });
        return;
      }
      case 'byteorder':
        registers.set(expression.to, this.value(expression.from));
        return;
      case 'cmp': {
        const { from, op, value } = expression;
        texts.push(comparison(this.value(from), op, value, this.family));
        return;
      }
      case 'range': {
        const { from, inverted, first, last } = expression;
        const value = this.value(from);
        const ends = [first, last].map((end) => literal(value, end, this.family));
        texts.push(`${value.text} ${inverted ? '!= ' : ''}${ends.join('-')}`);
        return;
      }
      case 'lookup': {
        const { set, from, to, inverted } = expression;
        const key = this.key(from);
        if (to === undefined) texts.push(`${key} ${inverted ? '!= ' : ''}@${set}`);
        else if (to === 'verdict') texts.push(`${key} vmap @${set}`);
        else registers.set(to, { text: `${key} map @${set}` });
        return;
      }
      case 'random': {
        const { to, inTurn } = expression;
        registers.set(to, { text: `numgen ${inTurn ? 'inc' : 'random'} ${rangeText(expression)}` });
        return;
      }
      case 'hash': {
        const { from, to, seed } = expression;
        const seeded = { ...expression, seedText: ` seed 0x${seed.toString(16)}` };
        registers.set(to, { text: `jhash ${this.key(from)} ${rangeText(seeded)}` });
        return;
      }
      case 'immediate':
        registers.set(expression.to, { text: hex(expression.value), bytes: expression.value });
        return;
      case 'meta-set':
        texts.push(`meta ${expression.key} set ${setText(this.value(expression.from), expression.key)}`);
        return;
      case 'nat':
        texts.push(this.nat(expression));
        return;
      case 'remember':
        texts.push(this.remember(expression));
        return;
      case 'verdict':
        texts.push(verdictText(expression.verdict));
        return;
      case 'masquerade':
        texts.push(expression.fullyRandom ? 'masquerade fully-random' : 'masquerade');
        return;
      case 'reject':
        texts.push('reject');
        return;
      case 'limit':
        texts.push(expression.inverted ? 'limit rate over …' : 'limit rate …');
        return;
      case 'count':
        texts.push(`counter name "${expression.counter}"`);
        return;
      case 'indifferent':
        texts.push(expression.name);
        return;
      case 'unknown':
        texts.push(`[${expression.name}]`);
        return;
    }
  }

  private value(register: number): Value {
    return this.registers.get(register) ?? { text: '?' };
  }

  /** All that was loaded from there on; a lookup uses it up. */
  private key(from: number): string {
    const parts = [...this.registers].filter(([register]) => register >= from).sort(([a], [b]) => a - b);
    for (const [register] of parts) this.registers.delete(register);
    return parts.map(([, value]) => maskedText(value)).join(' . ');
  }

  private payload({ base, offset, length }: Extract<Expression, { kind: 'payload' }>): Value {
    const protocol = this.family === 'IPv4' ? 'ip' : 'ip6';
    const { saddr, daddr } = ADDRESSES[this.family];
    if (base === 'network' && (offset === saddr || offset === daddr))
      return { text: `${protocol} ${offset === saddr ? 'saddr' : 'daddr'}`, form: 'address' };
    if (base === 'network' && offset === (this.family === 'IPv4' ? 9 : 6))
      return { text: this.family === 'IPv4' ? 'ip protocol' : 'ip6 nexthdr', form: 'protocol' };
    if (base === 'transport' && length === 2 && (offset === 0 || offset === 2))
      return { text: offset === 0 ? 'th sport' : 'th dport', form: 'port' };
    return { text: `@${base === 'network' ? 'nh' : 'th'},${offset * 8},${length * 8}` };
  }

  private remember({ set, from, timeoutSeconds }: Extract<Expression, { kind: 'remember' }>): string {
    const timeout = timeoutSeconds === 0 ? '' : ` timeout ${timeoutSeconds}s`;
    return `update @${set} { ${this.key(from)}${timeout} }`;
  }

  private nat({ type, address, port }: Extract<Expression, { kind: 'nat' }>): string {
    const to = address === undefined ? undefined : this.registers.get(address);
    if (to && !to.bytes) return `${type} ${this.family === 'IPv4' ? 'ip' : 'ip6'} to ${to.text}`;
    const toPort = port === undefined ? undefined : this.registers.get(port)?.bytes;
    const host = to?.bytes ? addressText(to.bytes) : '';
    return `${type} to ${toPort ? hostPort(host, readNetworkHalf(toPort)) : host}`;
  }
}

/** The numbers that are drawn from. */
function rangeText({
  modulus,
  offset,
  seedText = '',
}: {
  readonly modulus: number;
  readonly offset: number;
  readonly seedText?: string;
}): string {
  return `mod ${modulus}${seedText}${offset === 0 ? '' : ` offset ${offset}`}`;
}

function metaText(key: string): Value {
  if (key.endsWith('name')) return { text: key, form: 'name' };
  const form = key === 'l4proto' ? 'protocol' : key === 'priority' ? 'priority' : undefined;
  return { text: `meta ${key}`, form };
}

function ctText(key: string): Value {
  const form = key === 'state' || key === 'status' ? key : key.endsWith('addr') ? 'address' : undefined;
  return { text: `ct ${key}`, form };
}

function comparison(value: Value, op: string, literalValue: Uint8Array, family: IpFamily): string {
  const { text, form, mask } = value;
  const isBitTest = op === '!=' && literalValue.every((byte) => byte === 0);
  if (mask && isBitTest && (form === 'state' || form === 'status'))
    return `${text} ${bitNames(form, readHostWord(mask))}`;
  if (mask && form === 'address' && (op === '==' || op === '!='))
    return `${text} ${op === '!=' ? '!= ' : ''}${addressText(literalValue)}/${ones(mask)}`;
  return `${maskedText(value)} ${op === '==' ? '' : `${op} `}${literal(value, literalValue, family)}`;
}

const BIT_NAMES = {
  state: { 1: 'invalid', 2: 'established', 4: 'related', 8: 'new', 64: 'untracked' },
  status: { 0x10: 'snat', 0x20: 'dnat' },
} as const;

function bitNames(form: 'state' | 'status', bits: number): string {
  const names = Object.entries(BIT_NAMES[form]).filter(([bit]) => (bits & Number(bit)) !== 0);
  return names.map(([, name]) => name).join(',');
}

function maskedText({ text, form, mask }: Value): string {
  if (!mask) return text;
  return `${text} & ${form === 'address' ? addressText(mask) : hostHex(mask)}`;
}

/** `mark | bits` and `mark ^ bits` are one expression with different masks. */
function setText({ text, mask, xor, bytes }: Value, key: string): string {
  if (key === 'priority' && bytes) return formatPriority(readHostWord(bytes));
  if (!mask || !xor) return text;
  if (mask.every((byte) => byte === 0xff)) return `${text} ^ ${hostHex(xor)}`;
  if (xor.every((byte) => byte === 0)) return `${text} & ${hostHex(mask)}`;
  return `${text} | ${hostHex(xor)}`;
}

function literal({ form, mask }: Value, bytes: Uint8Array, family: IpFamily): string {
  switch (form) {
    case 'address':
      return partialAddress(bytes, family);
    case 'port':
      return String(readNetworkHalf(bytes));
    case 'protocol':
      return protocolText(bytes[0]!);
    case 'name': {
      const end = bytes.indexOf(0);
      const name = new TextDecoder().decode(end < 0 ? bytes : bytes.subarray(0, end));
      return end < 0 ? `"${name}*"` : `"${name}"`;
    }
    case 'priority':
      // Compared in the network's byte order.
      return formatPriority(readHostWord(bytes.toReversed()));
    case 'route':
      return bytes.length === 4 && readHostWord(bytes) === 2 ? 'local' : hostHex(bytes);
    default:
      return mask ? hostHex(bytes) : hex(bytes);
  }
}

/** A prefix that ends with a whole byte is compared by its bytes alone. */
function partialAddress(bytes: Uint8Array, family: IpFamily): string {
  const length = family === 'IPv4' ? 4 : 16;
  const padded = new Uint8Array(length);
  padded.set(bytes);
  const whole = addressText(padded);
  return bytes.length === length ? whole : `${whole}/${bytes.length * 8}`;
}

function ones(mask: Uint8Array): number {
  let count = 0;
  for (const byte of mask) for (let bit = 7; bit >= 0; bit--) count += (byte >>> bit) & 1;
  return count;
}

function hostHex(bytes: Uint8Array): string {
  return hex(bytes.toReversed());
}

/** `goto chain`, `drop`. */
export function verdictText({ code, chain }: KernelVerdict): string {
  return chain === undefined ? code : `${code} ${chain}`;
}
