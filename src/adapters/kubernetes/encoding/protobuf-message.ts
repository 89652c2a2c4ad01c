import { LENGTH_DELIMITED, VARINT, type WireReader } from './wire-reader.js';

/** How a value is read: `readValue` says what each means. */
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
  /** Of `entries`: the keys that are read. */
  readonly keys: readonly string[];
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
  { wireType = LENGTH_DELIMITED, fields = [], keys = [] }: Partial<Field> = {},
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

/** A `map<string, string>`, of which only these keys are read. */
export const entries = (name: string, keys: readonly string[]): Field => field(name, 'entries', { keys });

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
  keys: readonly string[],
  before: Record<string, string> | undefined,
): Readonly<Record<string, string>> | undefined {
  const { key = '', value } = readNested(reader, entry, {}) as { key?: string; value?: number };
  if (!keys.includes(key)) return before;
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
