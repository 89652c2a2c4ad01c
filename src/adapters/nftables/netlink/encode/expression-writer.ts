import type { MessageWriter } from '../../../netlink/message-writer.js';
import { DATA, EXPRESSION, LIST_ELEMENT, VERDICT, VERDICT_CODES } from '../nf-tables.js';

/** Numbers of registers: a slot is four bytes; every fourth has the number of a 16-byte register (docs/spec/nft-netlink.md §7.3). */
export function register(slot: number): number {
  return slot % 4 === 0 ? 1 + slot / 4 : 8 + slot;
}

/**
 * Writes the expressions of a rule. All attributes that the kernel's dump of such an expression has are sent, so that
 * sent and dumped expressions compare equal attribute by attribute.
 */
export class ExpressionWriter {
  constructor(private readonly writer: MessageWriter) {}

  payload(base: 'network' | 'transport', offset: number, length: number, dreg: number): void {
    this.expression('payload', (writer) => {
      writer.putU32(1, dreg);
      writer.putU32(2, base === 'network' ? 1 : 2);
      writer.putU32(3, offset);
      writer.putU32(4, length);
    });
  }

  metaLoad(key: number, dreg: number): void {
    this.expression('meta', (writer) => {
      writer.putU32(2, key);
      writer.putU32(1, dreg);
    });
  }

  metaSet(key: number, sreg: number): void {
    this.expression('meta', (writer) => {
      writer.putU32(2, key);
      writer.putU32(3, sreg);
    });
  }

  ctLoad(key: number, dreg: number): void {
    this.expression('ct', (writer) => {
      writer.putU32(2, key);
      writer.putU32(1, dreg);
    });
  }

  /** The type of the address (RTN_…) into the register. */
  fibType(field: 'saddr' | 'daddr', dreg: number): void {
    this.expression('fib', (writer) => {
      writer.putU32(1, dreg);
      writer.putU32(2, 3);
      writer.putU32(3, field === 'saddr' ? 1 : 2);
    });
  }

  compare(operator: 'eq' | 'neq' | 'gte', sreg: number, value: Uint8Array): void {
    this.expression('cmp', (writer) => {
      writer.putU32(1, sreg);
      writer.putU32(2, { eq: 0, neq: 1, gte: 5 }[operator]);
      putValue(writer, 3, value);
    });
  }

  /** The register becomes (register & mask) ^ xor. */
  bitwise(register: number, mask: Uint8Array, xor: Uint8Array): void {
    this.expression('bitwise', (writer) => {
      writer.putU32(1, register);
      writer.putU32(2, register);
      writer.putU32(3, mask.length);
      writer.putU32(6, 0);
      putValue(writer, 4, mask);
      putValue(writer, 5, xor);
    });
  }

  /** Four bytes from the host's to network byte order. */
  hostToNetwork(register: number): void {
    this.expression('byteorder', (writer) => {
      writer.putU32(1, register);
      writer.putU32(2, register);
      writer.putU32(3, 1);
      writer.putU32(4, 4);
      writer.putU32(5, 4);
    });
  }

  /** With dreg, a map: 1 for values, 0 for verdicts. Without, a plain test. */
  lookup(set: string, { dreg, inverted = false }: { dreg?: number; inverted?: boolean } = {}): void {
    this.expression('lookup', (writer) => {
      writer.putText(1, set);
      writer.putU32(2, 1);
      if (dreg !== undefined) writer.putU32(3, dreg);
      writer.putU32(5, inverted ? 1 : 0);
    });
  }

  random(modulus: number, offset: number, dreg: number): void {
    this.expression('numgen', (writer) => {
      writer.putU32(1, dreg);
      writer.putU32(2, modulus);
      writer.putU32(3, 1);
      writer.putU32(4, offset);
    });
  }

  immediate(value: Uint8Array, dreg: number): void {
    this.expression('immediate', (writer) => {
      writer.putU32(1, dreg);
      putValue(writer, 2, value);
    });
  }

  verdict(verdict: keyof typeof VERDICT_CODES, chain?: string): void {
    this.expression('immediate', (writer) => {
      writer.putU32(1, 0);
      putVerdict(writer, 2, VERDICT_CODES[verdict], chain);
    });
  }

  /** Destination NAT to the address in register 1 and the port in the given register. */
  dnat(family: number, portRegister: number): void {
    const mapsAddressAndPort = 3;
    this.expression('nat', (writer) => {
      writer.putU32(1, 1);
      writer.putU32(2, family);
      writer.putU32(3, 1);
      writer.putU32(4, 1);
      writer.putU32(5, portRegister);
      writer.putU32(6, portRegister);
      writer.putU32(7, mapsAddressAndPort);
    });
  }

  masquerade(): void {
    const fullyRandom = 0x10;
    this.expression('masq', (writer) => writer.putU32(1, fullyRandom));
  }

  reject(icmpCode: number): void {
    this.expression('reject', (writer) => {
      writer.putU32(1, 0);
      writer.putU8(2, icmpCode);
    });
  }

  /** Adds the key in register 1 to a set, or restarts its timeout. */
  update(set: string, timeoutMilliseconds: number): void {
    this.expression('dynset', (writer) => {
      writer.putText(1, set);
      writer.putU32(3, 1);
      writer.putU32(4, 1);
      writer.putU64(6, timeoutMilliseconds);
    });
  }

  private expression(name: string, putData: (writer: MessageWriter) => void): void {
    const { writer } = this;
    const expression = writer.beginNest(LIST_ELEMENT);
    writer.putText(EXPRESSION.NAME, name);
    const data = writer.beginNest(EXPRESSION.DATA);
    putData(writer);
    writer.endNest(data);
    writer.endNest(expression);
  }
}

function putValue(writer: MessageWriter, type: number, value: Uint8Array): void {
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
