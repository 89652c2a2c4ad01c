import { AttributeReader } from '../../../src/adapters/netlink/message-reader.js';

/** Runs a program of classic BPF as the kernel does, as far as filters of netlink messages need it; the bytes it passes. */
export function runFilter(program: Buffer, message: Buffer): number {
  let [a, x] = [0, 0];
  const outside = (at: number, length: number): boolean => at < 0 || at + length > message.length;
  for (let pc = 0; ; pc++) {
    const at = pc * 8;
    const code = program.readUInt16LE(at);
    const [ifTrue, ifFalse] = [program.readUInt8(at + 2), program.readUInt8(at + 3)];
    const k = program.readUInt32LE(at + 4);
    switch (code) {
      case 0x20:
        if (k >= 0xffff_0000)
          a = k - 2 ** 32 === -0x1000 + 12 ? attribute(message, a, x) : nested(message, a, x);
        else if (outside(k, 4)) return 0;
        else a = message.readUInt32BE(k);
        break;
      case 0x28:
        if (outside(k, 2)) return 0;
        a = message.readUInt16BE(k);
        break;
      case 0x30:
        if (outside(k, 1)) return 0;
        a = message.readUInt8(k);
        break;
      case 0x50:
        if (outside(x + k, 1)) return 0;
        a = message.readUInt8(x + k);
        break;
      case 0x00:
        a = k;
        break;
      case 0x01:
        x = k;
        break;
      case 0x07:
        x = a;
        break;
      case 0x24:
        a = Number((BigInt(a) * BigInt(k)) & 0xffff_ffffn);
        break;
      case 0xac:
        a = (a ^ x) >>> 0;
        break;
      case 0x74:
        a >>>= k;
        break;
      case 0x15:
        pc += a === k ? ifTrue : ifFalse;
        break;
      case 0x35:
        pc += a >= k ? ifTrue : ifFalse;
        break;
      case 0x45:
        pc += (a & k) !== 0 ? ifTrue : ifFalse;
        break;
      case 0x06:
        return k;
      default:
        throw new Error(`instruction ${pc} has the unknown code ${code.toString(16)}`);
    }
  }
}

function attribute(message: Buffer, from: number, type: number): number {
  const attributes = new AttributeReader(message, from, message.length);
  while (attributes.next()) if (attributes.type === type) return attributes.start - 4;
  return 0;
}

function nested(message: Buffer, at: number, type: number): number {
  const inside = new AttributeReader(message, at + 4, at + message.readUInt16LE(at));
  while (inside.next()) if (inside.type === type) return inside.start - 4;
  return 0;
}
