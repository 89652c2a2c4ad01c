import { aligned, NLA_TYPE_MASK } from './numbers.js';

/** Of linux/bpf_common.h and linux/filter.h. */
const CLASS = { LD: 0, LDX: 1, ALU: 4, JMP: 5, RET: 6, MISC: 7 };
const SIZES: Readonly<Record<number, 1 | 2 | 4>> = { 0x00: 4, 0x08: 2, 0x10: 1 };
const MODE = { IMM: 0x00, ABS: 0x20, IND: 0x40 };
const SOURCE_X = 0x08;
const SKF_AD_OFF = -0x1000;
const SKF_AD_NLATTR = 12;
const SKF_AD_NLATTR_NEST = 16;
const INSTRUCTION = 8;

/** A program that the kernel would not accept. */
class SocketFilterError extends Error {
  constructor(code: number, place: number) {
    super(
      `instruction ${place} of a socket filter has the code 0x${code.toString(16)}, which is not simulated`,
    );
    this.name = 'SocketFilterError';
  }
}

/**
 * Whether a program of classic BPF (struct sock_filter, one after the other) lets a datagram through. A load beyond its end
 * drops it, as in the kernel.
 */
export function passes(program: Buffer, datagram: Buffer): boolean {
  let accumulator = 0;
  let index = 0;
  const find = (from: number, to: number): number => {
    for (let at = from; at + 4 <= to;) {
      const length = datagram.readUInt16LE(at);
      if (length < 4) return 0;
      if ((datagram.readUInt16LE(at + 2) & NLA_TYPE_MASK) === index) return at;
      at += aligned(length);
    }
    return 0;
  };
  const load = (at: number, size: 1 | 2 | 4): number | undefined => {
    if (at === SKF_AD_OFF + SKF_AD_NLATTR) return find(accumulator, datagram.length);
    if (at === SKF_AD_OFF + SKF_AD_NLATTR_NEST)
      return find(accumulator + 4, accumulator + datagram.readUInt16LE(accumulator));
    return at >= 0 && at + size <= datagram.length ? datagram.readUIntBE(at, size) : undefined;
  };
  for (let place = 0; place * INSTRUCTION < program.length; place++) {
    const at = place * INSTRUCTION;
    const code = program.readUInt16LE(at);
    const operand = program.readUInt32LE(at + 4);
    switch (code & 7) {
      case CLASS.LD: {
        const mode = code & 0xe0;
        const size = SIZES[code & 0x18];
        if (mode === MODE.IMM) accumulator = operand;
        else if (size === undefined || (mode !== MODE.ABS && mode !== MODE.IND))
          throw new SocketFilterError(code, place);
        else {
          const loaded = load((operand | 0) + (mode === MODE.IND ? index : 0), size);
          if (loaded === undefined) return false;
          accumulator = loaded;
        }
        break;
      }
      case CLASS.LDX:
        index = operand;
        break;
      case CLASS.ALU: {
        const value = (code & SOURCE_X) !== 0 ? index : operand;
        accumulator = calculated(code & 0xf0, accumulator, value, place);
        break;
      }
      case CLASS.JMP: {
        const value = (code & SOURCE_X) !== 0 ? index : operand;
        place += program[at + (holds(code & 0xf0, accumulator, value, place) ? 2 : 3)]!;
        break;
      }
      case CLASS.RET:
        return ((code & 0x18) === 0x10 ? accumulator : operand) !== 0;
      case CLASS.MISC:
        if ((code & 0xf8) === 0) index = accumulator;
        else accumulator = index;
        break;
      default:
        throw new SocketFilterError(code, place);
    }
  }
  return false;
}

function calculated(operation: number, one: number, other: number, place: number): number {
  switch (operation) {
    case 0x00:
      return (one + other) >>> 0;
    case 0x10:
      return (one - other) >>> 0;
    case 0x20:
      return Math.imul(one, other) >>> 0;
    case 0x40:
      return (one | other) >>> 0;
    case 0x50:
      return (one & other) >>> 0;
    case 0x60:
      return other > 31 ? 0 : (one << other) >>> 0;
    case 0x70:
      return other > 31 ? 0 : one >>> other;
    case 0xa0:
      return (one ^ other) >>> 0;
    default:
      throw new SocketFilterError(operation | CLASS.ALU, place);
  }
}

function holds(operation: number, one: number, other: number, place: number): boolean {
  switch (operation) {
    case 0x10:
      return one === other;
    case 0x20:
      return one > other;
    case 0x30:
      return one >= other;
    case 0x40:
      return (one & other) !== 0;
    default:
      throw new SocketFilterError(operation | CLASS.JMP, place);
  }
}
