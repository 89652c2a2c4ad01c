import type { MessageWriter } from '../../../netlink/message-writer.js';
import { DATA, EXPRESSION, LIST_ELEMENT, VERDICT, VERDICT_CODES } from '../nf-tables.js';

/** Numbers of registers: a slot is four bytes; every fourth has the number of a 16-byte register (docs/spec/nft-netlink.md §7.3). */
export function register(slot: number): number {
  return slot % 4 === 0 ? 1 + slot / 4 : 8 + slot;
}

/** Its type, and 32 bits, a name, or bytes as data; or what writes it. */
type Attribute =
  readonly [type: number, value: number | string | Uint8Array] | ((writer: MessageWriter) => void);

/**
 * Writes the expressions of a rule. All attributes that the kernel's dump of such an expression has are sent, so that
 * sent and dumped expressions compare equal attribute by attribute.
 */
export class ExpressionWriter {
  constructor(private readonly writer: MessageWriter) {}

  payload(base: 'network' | 'transport', offset: number, length: number, dreg: number): void {
    this.expression('payload', [1, dreg], [2, base === 'network' ? 1 : 2], [3, offset], [4, length]);
  }

  metaLoad(key: number, dreg: number): void {
    this.expression('meta', [2, key], [1, dreg]);
  }

  metaSet(key: number, sreg: number): void {
    this.expression('meta', [2, key], [3, sreg]);
  }

  ctLoad(key: number, dreg: number): void {
    this.expression('ct', [2, key], [1, dreg]);
  }

  /** The type of the address (RTN_…) into the register. */
  fibType(field: 'saddr' | 'daddr', dreg: number): void {
    this.expression('fib', [1, dreg], [2, 3], [3, field === 'saddr' ? 1 : 2]);
  }

  compare(operator: 'eq' | 'neq' | 'gte', sreg: number, value: Uint8Array): void {
    this.expression('cmp', [1, sreg], [2, { eq: 0, neq: 1, gte: 5 }[operator]], [3, value]);
  }

  /** The register becomes (register & mask) ^ xor. */
  bitwise(register: number, mask: Uint8Array, xor: Uint8Array): void {
    this.expression('bitwise', [1, register], [2, register], [3, mask.length], [6, 0], [4, mask], [5, xor]);
  }

  /** Four bytes from the host's to network byte order. */
  hostToNetwork(register: number): void {
    this.expression('byteorder', [1, register], [2, register], [3, 1], [4, 4], [5, 4]);
  }

  /** With dreg, a map: 1 for values, 0 for verdicts. Without, a plain test. */
  lookup(set: string, { dreg, inverted = false }: { dreg?: number; inverted?: boolean } = {}): void {
    const destination = dreg === undefined ? [] : [[3, dreg] as const];
    this.expression('lookup', [1, set], [2, 1], ...destination, [5, inverted ? 1 : 0]);
  }

  random(modulus: number, offset: number, dreg: number): void {
    this.expression('numgen', [1, dreg], [2, modulus], [3, 1], [4, offset]);
  }

  immediate(value: Uint8Array, dreg: number): void {
    this.expression('immediate', [1, dreg], [2, value]);
  }

  verdict(verdict: keyof typeof VERDICT_CODES, chain?: string): void {
    this.expression('immediate', [1, 0], (writer) => putVerdict(writer, 2, VERDICT_CODES[verdict], chain));
  }

  /** Destination NAT to the address in register 1 and the port in the given register. */
  dnat(family: number, port: number): void {
    const mapsAddressAndPort = 3;
    const places = [
      [3, 1],
      [4, 1],
      [5, port],
      [6, port],
    ] as const;
    this.expression('nat', [1, 1], [2, family], ...places, [7, mapsAddressAndPort]);
  }

  masquerade(): void {
    const fullyRandom = 0x10;
    this.expression('masq', [1, fullyRandom]);
  }

  reject(icmpCode: number): void {
    this.expression('reject', [1, 0], (writer) => writer.putU8(2, icmpCode));
  }

  /** Adds the key in register 1 to a set, or restarts its timeout. */
  update(set: string, timeoutMilliseconds: number): void {
    this.expression('dynset', [1, set], [3, 1], [4, 1], (writer) => writer.putU64(6, timeoutMilliseconds));
  }

  private expression(name: string, ...attributes: readonly Attribute[]): void {
    const { writer } = this;
    const expression = writer.beginNest(LIST_ELEMENT);
    writer.putText(EXPRESSION.NAME, name);
    const data = writer.beginNest(EXPRESSION.DATA);
    for (const attribute of attributes) putAttribute(writer, attribute);
    writer.endNest(data);
    writer.endNest(expression);
  }
}

function putAttribute(writer: MessageWriter, attribute: Attribute): void {
  if (typeof attribute === 'function') return attribute(writer);
  const [type, value] = attribute;
  if (typeof value === 'number') return writer.putU32(type, value);
  if (typeof value === 'string') return writer.putText(type, value);
  const nest = writer.beginNest(type);
  writer.putBytes(DATA.VALUE, value);
  writer.endNest(nest);
}

/** A verdict as data, of an expression or of an element. */
export function putVerdict(
  writer: MessageWriter,
  type: number,
  code: number,
  chain: string | undefined,
): void {
  const data = writer.beginNest(type);
  const verdict = writer.beginNest(DATA.VERDICT);
  writer.putU32(VERDICT.CODE, code);
  if (chain !== undefined) writer.putText(VERDICT.CHAIN, chain);
  writer.endNest(verdict);
  writer.endNest(data);
}
