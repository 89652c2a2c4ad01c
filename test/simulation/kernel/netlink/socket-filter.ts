import { aligned, NLA } from './numbers.js';

/** Of linux/bpf_common.h, the instructions that programs here have: class, size or source, and mode or operation in one number. */
const LOADS: Readonly<Record<number, number>> = { 0x20: 4, 0x28: 2, 0x30: 1, 0x50: 1 };
const LOAD_AT_X = 0x50;
const [SET, SET_X, TO_X, MULTIPLY, XOR_X, SHIFT_RIGHT, RETURN] = [0x00, 0x01, 0x07, 0x24, 0xac, 0x74, 0x06];
const JUMPS: Readonly<Record<number, (value: number, operand: number) => boolean>> = {
  0x15: (value, operand) => value === operand,
  0x35: (value, operand) => value >= operand,
  0x45: (value, operand) => (value & operand) !== 0,
};
const INSTRUCTION = 8;
/** SKF_AD_OFF with SKF_AD_NLATTR, and with SKF_AD_NLATTR_NEST. */
const [ATTRIBUTE, NESTED_ATTRIBUTE] = [-0x1000 + 12, -0x1000 + 16];

/** Where the attribute of this type between two positions begins; 0 if there is none. */
function find(datagram: Buffer, from: number, to: number, type: number): number {
  for (let at = from; at + 4 <= to;) {
    const length = datagram.readUInt16LE(at);
    if (length < 4) return 0;
    if ((datagram.readUInt16LE(at + 2) & NLA.TYPE_MASK) === type) return at;
    at += aligned(length);
  }
  return 0;
}

/**
 * Whether a program of classic BPF (struct sock_filter, one after the other) lets a datagram through. A load beyond its end
 * drops it, as in the kernel. Instructions that are not here make a TypeError.
 */
export function passes(program: Buffer, datagram: Buffer): boolean {
  let [accumulator, index] = [0, 0];
  for (let at = 0; at < program.length; at += INSTRUCTION) {
    const code = program.readUInt16LE(at);
    const operand = program.readUInt32LE(at + 4);
    const size = LOADS[code];
    if (size !== undefined) {
      const start = (operand | 0) + (code === LOAD_AT_X ? index : 0);
      if (start === ATTRIBUTE) accumulator = find(datagram, accumulator, datagram.length, index);
      else if (start === NESTED_ATTRIBUTE) {
        const end = accumulator + datagram.readUInt16LE(accumulator);
        accumulator = find(datagram, accumulator + 4, end, index);
      } else if (start < 0 || start + size > datagram.length) return false;
      else accumulator = datagram.readUIntBE(start, size);
    } else if (code === SET) accumulator = operand;
    else if (code === SET_X) index = operand;
    else if (code === TO_X) index = accumulator;
    else if (code === MULTIPLY) accumulator = Math.imul(accumulator, operand) >>> 0;
    else if (code === XOR_X) accumulator = (accumulator ^ index) >>> 0;
    else if (code === SHIFT_RIGHT) accumulator >>>= operand;
    else if (code === RETURN) return operand !== 0;
    else at += INSTRUCTION * program[at + (JUMPS[code]!(accumulator, operand) ? 2 : 3)]!;
  }
  return false;
}
