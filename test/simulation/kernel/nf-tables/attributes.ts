import { ERANGE } from '../netlink/numbers.js';
import { MAX_NAME_LENGTH } from './numbers.js';

const TYPE_MASK = 0x3fff;

/** The kernel does not do what a message asks for. */
export class Refused extends Error {
  /** @param at where the offending attribute begins in the buffer; undefined if the kernel does not tell */
  constructor(
    readonly errno: number,
    readonly at?: number,
  ) {
    // Where it was thrown nobody asks, and many are: each question for what is not there is refused.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`errno ${errno}`);
    Error.stackTraceLimit = stackTraceLimit;
  }
}

/** The attributes between two positions of a buffer, by their types. What does not fit at the end is passed over, as by `nla_parse`. */
export class Attributes {
  private readonly places: (number | undefined)[] = [];

  constructor(
    readonly bytes: Buffer,
    from: number,
    to: number,
    /** Those of a message itself, of which the kernel tells which one is too long or too short. */
    private readonly isOuter = false,
  ) {
    for (const at of attributesBetween(bytes, from, to))
      this.places[bytes.readUInt16LE(at + 2) & TYPE_MASK] = at;
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

  /** A copy. @throws Refused (ERANGE) for more bytes than this */
  copy(type: number, most: number): Buffer | undefined {
    const value = this.value(type);
    if (!value) return undefined;
    if (value.length > most) throw this.outOfRange(type);
    return value.length === 0 ? undefined : Buffer.from(value);
  }

  /** @throws Refused (ERANGE) if it is too short, as all of these do */
  u32(type: number): number | undefined {
    const at = this.start(type, 4);
    return at === undefined ? undefined : this.bytes.readUInt32BE(at);
  }

  u64(type: number): number | undefined {
    const at = this.start(type, 8);
    return at === undefined
      ? undefined
      : this.bytes.readUInt32BE(at) * 2 ** 32 + this.bytes.readUInt32BE(at + 4);
  }

  /** @throws Refused (ERANGE) if it is too long for a name */
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

  private start(type: number, length: number): number | undefined {
    const at = this.places[type];
    if (at === undefined) return undefined;
    if (this.bytes.readUInt16LE(at) < 4 + length) throw this.outOfRange(type);
    return at + 4;
  }

  private outOfRange(type: number): Refused {
    return new Refused(ERANGE, this.isOuter ? this.places[type] : undefined);
  }
}

/** The attributes inside of the one that begins here. */
export function attributesOf(bytes: Buffer, at: number): Attributes {
  return new Attributes(bytes, at + 4, at + bytes.readUInt16LE(at));
}

/** Where the attributes inside of the one that begins here begin. */
export function within(bytes: Buffer, at: number): Iterable<number> {
  return attributesBetween(bytes, at + 4, at + bytes.readUInt16LE(at));
}

export function typeAt(bytes: Buffer, at: number): number {
  return bytes.readUInt16LE(at + 2) & TYPE_MASK;
}

function attributesBetween(bytes: Buffer, from: number, to: number): readonly number[] {
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
    throw error instanceof Refused ? new Refused(error.errno, at) : error;
  }
}
