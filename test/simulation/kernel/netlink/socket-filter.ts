import { aligned, NLA } from './numbers.js';

/** Of linux/bpf_common.h and linux/filter.h. */
const CLASS = { LD: 0, LDX: 1, ALU: 4, JMP: 5, RET: 6, MISC: 7 } as const;
const MODE = { IMM: 0x00, ABS: 0x20, IND: 0x40 } as const;
const SIZES: Readonly<Record<number, number>> = { 0x00: 4, 0x08: 2, 0x10: 1 };
const SOURCE_X = 0x08;
const INSTRUCTION = 8;
/** SKF_AD_OFF with SKF_AD_NLATTR, and with SKF_AD_NLATTR_NEST. */
const [ATTRIBUTE, NESTED_ATTRIBUTE] = [-0x1000 + 12, -0x1000 + 16];
const CALCULATIONS: Readonly<Record<number, (one: number, other: number) => number>> = {
  0x00: (one, other) => one + other,
  0x10: (one, other) => one - other,
  0x20: Math.imul,
  0x40: (one, other) => one | other,
  0x50: (one, other) => one & other,
  0x60: (one, other) => (other > 31 ? 0 : one << other),
  0x70: (one, other) => (other > 31 ? 0 : one >>> other),
  0xa0: (one, other) => one ^ other,
};
const COMPARISONS: Readonly<Record<number, (one: number, other: number) => boolean>> = {
  0x10: (one, other) => one === other,
  0x20: (one, other) => one > other,
  0x30: (one, other) => one >= other,
  0x40: (one, other) => (one & other) !== 0,
};

/**
 * Whether a program of classic BPF (struct sock_filter, one after the other) lets a datagram through. A load beyond its end
 * drops it, as in the kernel. Instructions that are not here make a TypeError.
 */
export function passes(program: Buffer, datagram: Buffer): boolean {
  let [accumulator, index] = [0, 0];
  const find = (from: number, to: number): number => {
    for (let at = from; at + 4 <= to;) {
      const length = datagram.readUInt16LE(at);
      if (length < 4) return 0;
      if ((datagram.readUInt16LE(at + 2) & NLA.TYPE_MASK) === index) return at;
      at += aligned(length);
    }
    return 0;
  };
  const load = (at: number, size: number): number | undefined => {
    if (at === ATTRIBUTE) return find(accumulator, datagram.length);
    if (at === NESTED_ATTRIBUTE)
      return find(accumulator + 4, accumulator + datagram.readUInt16LE(accumulator));
    return at >= 0 && at + size <= datagram.length ? datagram.readUIntBE(at, size) : undefined;
  };
  for (let at = 0; at < program.length; at += INSTRUCTION) {
    const code = program.readUInt16LE(at);
    const operand = program.readUInt32LE(at + 4);
    const value = (code & SOURCE_X) === 0 ? operand : index;
    switch (code & 7) {
      case CLASS.LD: {
        const mode = code & 0xe0;
        const start = (operand | 0) + (mode === MODE.IND ? index : 0);
        const loaded = mode === MODE.IMM ? operand : load(start, SIZES[code & 0x18]!);
        if (loaded === undefined) return false;
        accumulator = loaded;
        break;
      }
      case CLASS.LDX:
        index = operand;
        break;
      case CLASS.ALU:
        accumulator = CALCULATIONS[code & 0xf0]!(accumulator, value) >>> 0;
        break;
      case CLASS.JMP:
        at += INSTRUCTION * program[at + (COMPARISONS[code & 0xf0]!(accumulator, value) ? 2 : 3)]!;
        break;
      case CLASS.RET:
        return ((code & 0x18) === 0x10 ? accumulator : operand) !== 0;
      case CLASS.MISC:
        if ((code & 0xf8) === 0) index = accumulator;
        else accumulator = index;
    }
  }
  return false;
}
