import type { Buffer } from 'node:buffer';

/** Bytes that are not the message they claim to be: cut off, corrupted, or of another kind. */
export class WireError extends SyntaxError {
  override readonly name = 'WireError';
}

/** How a field's value is encoded (https://protobuf.dev/programming-guides/encoding/#structure). */
export const VARINT = 0;

const FIXED64 = 1;

export const LENGTH_DELIMITED = 2;

const FIXED32 = 5;

const LONGEST_VARINT = 10;

/**
 * Reads the wire format of protocol buffers from a buffer. Every method throws WireError instead of reading beyond the end of
 * the message that is open.
 */
export class WireReader {
  private end: number;
  /** Bits 32 to 63 of the last varint. */
  private high = 0;

  /** @param at where the message begins */
  constructor(
    private readonly bytes: Buffer,
    private at = 0,
  ) {
    this.end = bytes.length;
  }

  /** Whether the open message has no further field. */
  get done(): boolean {
    return this.at >= this.end;
  }

  /** How many bytes were read. */
  get position(): number {
    return this.at;
  }

  /** Field number and wire type of the next field: `number << 3 | type`. */
  tag(): number {
    const tag = this.uint32();
    if (tag < 8) throw this.error('an impossible field number');
    return tag;
  }

  /** A value of type `uint32`, such as a length. */
  uint32(): number {
    const value = this.varint();
    if (this.high !== 0) throw this.error('a number beyond 32 bits');
    return value;
  }

  /** A value of type `int32`. Longer ones lose their upper bits, as in Go. */
  int32(): number {
    return this.varint() | 0;
  }

  /** A value of type `int64`, rounded beyond 2^53. */
  int64(): number {
    const low = this.varint();
    return (this.high | 0) * 0x1_0000_0000 + low;
  }

  /** A value of type `bool`. */
  bool(): boolean {
    return this.varint() !== 0 || this.high !== 0;
  }

  /** A value of type `string`. Bytes that are not UTF-8 become U+FFFD, as in JSON. */
  string(): string {
    const end = this.limit();
    const text = REPEATED.decode(this.bytes, this.at, end);
    this.at = end;
    return text;
  }

  /** Passes over a value of type `string`, which `stringAt` reads while the same message is open. Returns its position. */
  later(): number {
    const position = this.at;
    this.at = this.limit();
    return position;
  }

  stringAt(position: number): string {
    const { at } = this;
    this.at = position;
    const text = this.string();
    this.at = at;
    return text;
  }

  /** A value of type `bytes`: a part of the buffer, not a copy. */
  bytesValue(): Buffer {
    const end = this.limit();
    const part = this.bytes.subarray(this.at, end);
    this.at = end;
    return part;
  }

  /** Opens the message that comes next. Returns what `leave` needs. */
  enter(): number {
    const outer = this.end;
    this.end = this.limit();
    return outer;
  }

  /** Closes the message that `enter` opened, after its last field. */
  leave(outer: number): void {
    this.end = outer;
  }

  /** Skips the value of a field that is not needed. */
  skip(wireType: number): void {
    if (wireType === LENGTH_DELIMITED) this.at = this.limit();
    else if (wireType === VARINT) this.varint();
    else if (wireType === FIXED64) this.advance(8);
    else if (wireType === FIXED32) this.advance(4);
    // Groups (3 and 4) are deprecated, and Kubernetes never used them.
    else throw this.error(`wire type ${wireType}`);
  }

  /** An error that names the place. */
  error(problem: string): WireError {
    return new WireError(`${problem} at byte ${this.at} of ${this.bytes.length}`);
  }

  /** The end of the value whose length comes next. */
  private limit(): number {
    const length = this.uint32();
    if (length > this.end - this.at) throw this.error('a length beyond the end');
    return this.at + length;
  }

  private advance(size: number): void {
    if (size > this.end - this.at) throw this.error('a number is cut off');
    this.at += size;
  }

  /** The low 32 bits, unsigned; the others are in `high`. */
  private varint(): number {
    const { bytes, end } = this;
    let low = 0;
    this.high = 0;
    for (let index = 0; index < LONGEST_VARINT; index++) {
      if (this.at >= end) throw this.error('a number is cut off');
      const byte = bytes[this.at++]!;
      const bits = byte & 0x7f;
      if (index < 5) low |= bits << (7 * index);
      if (index === 4) this.high = bits >>> 4;
      else if (index > 4) this.high |= bits << (7 * index - 32);
      if (byte < 0x80) return low >>> 0;
    }
    throw this.error('a number of more than 10 bytes');
  }
}

/** Longer ones hardly repeat. Bytes. */
const LONGEST = 32;

/** A power of two. */
const SLOTS = 1024;

/**
 * Texts of UTF-8 that come again and again, as names of namespaces, ports, protocols and nodes do, each kept once. With 10,000
 * services of 5 endpoints that saves 3 MB, and to find a text here is quicker than to decode it.
 */
export class RepeatedTexts {
  private readonly recent: (string | undefined)[] = Array.from({ length: SLOTS });

  /** The text of these bytes. What is not UTF-8 becomes U+FFFD. */
  decode(bytes: Buffer, start: number, end: number): string {
    if (end - start > LONGEST) return bytes.toString('utf8', start, end);
    let hash = 0;
    for (let at = start; at < end; at++) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    const slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    const known = this.recent[slot];
    if (known !== undefined && isAscii(known, bytes, start, end)) return known;
    return (this.recent[slot] = bytes.toString('utf8', start, end));
  }
}

/** Whether the text, in ASCII, is these bytes. */
function isAscii(text: string, bytes: Buffer, start: number, end: number): boolean {
  if (text.length !== end - start) return false;
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index);
    if (code !== bytes[start + index] || code > 0x7f) return false;
  }
  return true;
}

/** Shared by all kinds of objects, which have names of namespaces and ports in common. */
const REPEATED = new RepeatedTexts();

/** How a value is read: `readValue` defines each. */
type Form =
  | 'text'
  | 'optional text'
  | 'texts'
  | 'later'
  | 'bytes'
  | 'int32'
  | 'int64'
  | 'bool'
  | 'nested'
  | 'repeated'
  | 'entries'
  | 'timestamp';

/**
 * One field that is read: its name in JSON, and how its value is read. Plain data, because an event that comes after a while
 * finds nothing in the processor's caches: without a function for each field, decoding it takes a tenth less.
 */
interface Field {
  readonly name: string;
  readonly form: Form;
  readonly wireType: number;
  /** Of `nested` and `repeated`. */
  readonly fields: Message;
  /** Of `entries`: the keys that are read; undefined: all. */
  readonly keys: readonly string[] | undefined;
}

/** The fields of a message that are read, by number. All others are skipped. */
export type Message = readonly (Field | undefined)[];

type Raw = Record<string, unknown>;

/** Describes a message by its field numbers. */
export function message(fields: Readonly<Record<number, Field>>): Message {
  const numbers = Object.keys(fields).map(Number);
  return Array.from({ length: Math.max(...numbers) + 1 }, (_, number) => fields[number]);
}

function field(
  name: string,
  form: Form,
  { wireType = LENGTH_DELIMITED, fields = [], keys }: Partial<Field> = {},
): Field {
  return { name, form, wireType, fields, keys };
}

/** A Go `string` with `omitempty`: always on the wire, in JSON only if it is not empty. */
export const text = (name: string): Field => field(name, 'text');

/** A Go `*string`: absent, or any value. */
export const optionalText = (name: string): Field => field(name, 'optional text');

export const texts = (name: string): Field => field(name, 'texts');

export const bytes = (name: string): Field => field(name, 'bytes');

export const int32 = (name: string): Field => field(name, 'int32', { wireType: VARINT });

export const bool = (name: string): Field => field(name, 'bool', { wireType: VARINT });

export const nested = (name: string, fields: Message): Field => field(name, 'nested', { fields });

export const repeated = (name: string, fields: Message): Field => field(name, 'repeated', { fields });

/** A `map<string, string>`, of which only these keys are read; missing: all. */
export const entries = (name: string, keys?: readonly string[]): Field =>
  field(name, 'entries', keys && { keys });

/** A `metav1.Time`, as RFC 3339 in whole seconds. */
export const timestamp = (name: string): Field => field(name, 'timestamp');

/** Reads a message up to the end of the reader's bytes. Throws WireError. */
export function readMessage(reader: WireReader, fields: Message): Raw {
  return readFields(reader, fields, {});
}

function readFields(reader: WireReader, fields: Message, object: Raw): Raw {
  while (!reader.done) {
    const tag = reader.tag();
    const wireType = tag & 7;
    const known = fields[tag >>> 3];
    if (known === undefined) {
      reader.skip(wireType);
    } else {
      const { name } = known;
      if (wireType !== known.wireType) throw reader.error(`${name} has the wire type ${wireType}`);
      const value = readValue(reader, known, object[name]);
      if (value !== undefined) object[name] = value;
    }
  }
  return object;
}

/** @param before the value so far, for lists and for messages that come in parts; undefined: as if the field were missing */
function readValue(reader: WireReader, { form, fields, keys }: Field, before: unknown): unknown {
  switch (form) {
    case 'text':
      return reader.string() || undefined;
    case 'optional text':
      return reader.string();
    case 'texts':
      return appended(before, reader.string());
    case 'later':
      return reader.later();
    case 'bytes':
      return reader.bytesValue();
    case 'int32':
      return reader.int32();
    case 'int64':
      return reader.int64();
    case 'bool':
      return reader.bool();
    case 'nested':
      return readNested(reader, fields, (before as Raw | undefined) ?? {});
    case 'repeated':
      return appended(before, readNested(reader, fields, {}));
    case 'entries':
      return withEntry(reader, keys, before as Record<string, string> | undefined);
    case 'timestamp':
      return readTime(reader);
  }
}

function readNested(reader: WireReader, fields: Message, object: Raw): Raw {
  const outer = reader.enter();
  readFields(reader, fields, object);
  reader.leave(outer);
  return object;
}

const entry: Message = message({ 1: text('key'), 2: field('value', 'later') });

function withEntry(
  reader: WireReader,
  keys: readonly string[] | undefined,
  before: Record<string, string> | undefined,
): Readonly<Record<string, string>> | undefined {
  const { key = '', value } = readNested(reader, entry, {}) as { key?: string; value?: number };
  if (keys && !keys.includes(key)) return before;
  const map = before ?? {};
  map[key] = value === undefined ? '' : reader.stringAt(value);
  return map;
}

const time: Message = message({ 1: field('seconds', 'int64', { wireType: VARINT }) });

/** The largest time of a Date, in seconds from 1970. */
const LAST_SECOND = 8_640_000_000_000;

/** Undefined for Go's zero time, which JSON has as null: events and bookmarks have it for the creation. */
function readTime(reader: WireReader): string | undefined {
  const { seconds = 0 } = readNested(reader, time, {}) as { seconds?: number };
  if (Math.abs(seconds) > LAST_SECOND) throw reader.error(`an impossible time, ${seconds},`);
  if (seconds === 0) return undefined;
  return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
}

function appended<T>(list: unknown, member: T): readonly T[] {
  if (list === undefined) return [member];
  (list as T[]).push(member);
  return list as T[];
}
