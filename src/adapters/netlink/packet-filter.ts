/** An instruction of a classic BPF program: operation, operand, and for jumps the next instruction when true and when false. */
type Instruction =
  | readonly [operation: Operation, operand: number]
  | readonly [operation: Jump, operand: number, ifTrue: string, ifFalse: string];

/** A program: instructions, and labels on what follows them. */
export type FilterProgram = readonly (Instruction | string)[];

type Operation = keyof typeof OPERATIONS;
type Jump = keyof typeof JUMPS;

/** A is the accumulator, X the index register; loads of several bytes are big-endian. */
const OPERATIONS = {
  /** A = the word, the two bytes, or the byte at this place of the message. */
  loadWord: 0x20,
  loadHalf: 0x28,
  loadByte: 0x30,
  /** A = the byte at X plus this. */
  loadByteAtX: 0x50,
  /** A = this. */
  set: 0x00,
  /** X = this. */
  setX: 0x01,
  /** X = A. */
  toX: 0x07,
  multiply: 0x24,
  /** A = A ^ X. */
  xorX: 0xac,
  shiftRight: 0x74,
  /** Ends: passes this number of bytes of the message, 0 for none of it. */
  end: 0x06,
} as const;

const JUMPS = { ifEqual: 0x15, ifAtLeast: 0x35, ifAnyBit: 0x45 } as const;

/** Where a load finds attributes of a netlink message (linux/filter.h): the first from A on, or inside of A, of type X; 0 if none. */
export const ATTRIBUTE = -0x1000 + 12;
export const NESTED_ATTRIBUTE = -0x1000 + 16;

/** The end of a program that passes the whole message. */
export const WHOLE_MESSAGE = 0xffff_ffff;

/** The bytes of one instruction, struct sock_filter. */
const INSTRUCTION_LENGTH = 8;

/** The program as the kernel reads it. @throws Error for an unknown label, or a jump that is too far or backwards */
export function assemble(program: FilterProgram): Buffer {
  const places = new Map<string, number>();
  const instructions: Instruction[] = [];
  for (const line of program) {
    if (typeof line === 'string') places.set(line, instructions.length);
    else instructions.push(line);
  }
  const bytes = Buffer.alloc(instructions.length * INSTRUCTION_LENGTH);
  for (const [place, [name, operand, ifTrue, ifFalse]] of instructions.entries()) {
    const distance = (label: string | undefined): number =>
      label === undefined ? 0 : places.get(label)! - place - 1;
    const at = place * INSTRUCTION_LENGTH;
    bytes.writeUInt16LE(name in JUMPS ? JUMPS[name as Jump] : OPERATIONS[name as Operation], at);
    bytes.writeUInt8(distance(ifTrue), at + 2);
    bytes.writeUInt8(distance(ifFalse), at + 3);
    bytes.writeUInt32LE(operand >>> 0, at + 4);
  }
  return bytes;
}
