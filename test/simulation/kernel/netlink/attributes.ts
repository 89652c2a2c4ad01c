import { E, NLA } from './numbers.js';

/** The kernel does not do what a message asks for. */
export class Refusal extends Error {
  /** @param at where the offending attribute begins in the buffer; undefined if the kernel does not tell */
  constructor(
    readonly errno: number,
    readonly at?: number,
    readonly explanation?: string,
  ) {
    // Nobody reads where it was thrown, and many are: each question for what is not there is refused.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(explanation ?? `errno ${errno}`);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** @throws Refusal unless the number is 0 */
export function refuseUnlessZero(errno: number, explanation?: string): void {
  if (errno !== 0) throw new Refusal(errno, undefined, explanation);
}

/** No name is longer. */
const MAX_NAME_LENGTH = 255;

/**
 * The attributes between two positions of a buffer, by their types; of several of a type the last. What does not fit at the end is
 * passed over, as by `nla_parse`. Numbers are read as they are called: `be32` in network byte order, `u32` in the host's. Each throws
 * Refusal (ERANGE) for an attribute that is too short or too long.
 */
export class Attributes {
  private readonly places: (number | undefined)[] = [];

  constructor(
    readonly bytes: Buffer,
    from: number,
    to: number,
    /** Those of a message itself, of which the kernel tells which one is too long or too short. */
    private readonly isOuter = false,
  ) {
    for (const at of attributesBetween(bytes, from, to)) this.places[typeAt(bytes, at)] = at;
  }

  /** Where an attribute begins, with its header; undefined if it is missing. */
  at(type: number): number | undefined {
    return this.places[type];
  }

  has(type: number): boolean {
    return this.places[type] !== undefined;
  }

  /** A view. */
  value(type: number): Buffer | undefined {
    const at = this.places[type];
    return at === undefined ? undefined : this.bytes.subarray(at + 4, at + this.bytes.readUInt16LE(at));
  }

  /** A copy of at most so many bytes. */
  copy(type: number, most: number): Buffer | undefined {
    const value = this.value(type);
    if (!value) return undefined;
    if (value.length > most) throw this.outOfRange(type);
    return value.length === 0 ? undefined : Buffer.from(value);
  }

  u8(type: number): number | undefined {
    return this.number(type, 1, (at) => this.bytes[at]!);
  }

  u16(type: number): number | undefined {
    return this.number(type, 2, (at) => this.bytes.readUInt16LE(at));
  }

  u32(type: number): number | undefined {
    return this.number(type, 4, (at) => this.bytes.readUInt32LE(at));
  }

  be16(type: number): number | undefined {
    return this.number(type, 2, (at) => this.bytes.readUInt16BE(at));
  }

  be32(type: number): number | undefined {
    return this.number(type, 4, (at) => this.bytes.readUInt32BE(at));
  }

  be64(type: number): number | undefined {
    return this.number(
      type,
      8,
      (at) => this.bytes.readUInt32BE(at) * 2 ** 32 + this.bytes.readUInt32BE(at + 4),
    );
  }

  /** With or without the zero byte at its end. */
  text(type: number): string | undefined {
    const value = this.value(type);
    if (!value) return undefined;
    const end = value.indexOf(0);
    const length = end < 0 ? value.length : end;
    if (length > MAX_NAME_LENGTH || value.length > MAX_NAME_LENGTH + 1) throw this.outOfRange(type);
    return value.toString('latin1', 0, length);
  }

  nested(type: number): Attributes | undefined {
    const at = this.places[type];
    return at === undefined ? undefined : attributesOf(this.bytes, at);
  }

  private number(type: number, length: number, read: (at: number) => number): number | undefined {
    const at = this.places[type];
    if (at === undefined) return undefined;
    if (this.bytes.readUInt16LE(at) < 4 + length) throw this.outOfRange(type);
    return read(at + 4);
  }

  private outOfRange(type: number): Refusal {
    return new Refusal(E.ERANGE, this.isOuter ? this.places[type] : undefined);
  }
}

/** The attributes inside of the one that begins here. */
export function attributesOf(bytes: Buffer, at: number): Attributes {
  return new Attributes(bytes, at + 4, at + bytes.readUInt16LE(at));
}

/** Where the attributes inside of the one that begins here begin. */
export function within(bytes: Buffer, at: number | undefined): readonly number[] {
  return at === undefined ? [] : attributesBetween(bytes, at + 4, at + bytes.readUInt16LE(at));
}

export function typeAt(bytes: Buffer, at: number): number {
  return bytes.readUInt16LE(at + 2) & NLA.TYPE_MASK;
}

export function attributesBetween(bytes: Buffer, from: number, to: number): readonly number[] {
  const found: number[] = [];
  for (let at = from; at + 4 <= to;) {
    const length = bytes.readUInt16LE(at);
    if (length < 4 || at + length > to) break;
    found.push(at);
    at += (length + 3) & ~3;
  }
  return found;
}

/** Refusals of this work are for the attribute that begins here. */
export function naming<T>(at: number, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof Refusal ? new Refusal(error.errno, at) : error;
  }
}
