import { LENGTH_DELIMITED, VARINT, type WireReader } from './wire-reader.js';

/** One field that is read: its name in JSON, and how its value is read. */
export interface Field {
  readonly name: string;
  readonly wireType: number;
  /** @param before the value so far, for lists and for messages that come in parts; undefined: as if the field were missing */
  read(reader: WireReader, before: unknown): unknown;
}

/** The fields of a message that are read, by number. All others are skipped. */
export type Message = readonly (Field | undefined)[];

type Raw = Record<string, unknown>;

/** Describes a message by its field numbers. */
export function message(fields: Readonly<Record<number, Field>>): Message {
  const numbers = Object.keys(fields).map(Number);
  return Array.from({ length: Math.max(...numbers) + 1 }, (_, number) => fields[number]);
}

/** A Go `string` with `omitempty`: always on the wire, in JSON only if it is not empty. */
export function text(name: string): Field {
  return { name, wireType: LENGTH_DELIMITED, read: (reader) => reader.string() || undefined };
}

/** A Go `*string`: absent, or any value. */
export function optionalText(name: string): Field {
  return { name, wireType: LENGTH_DELIMITED, read: (reader) => reader.string() };
}

export function texts(name: string): Field {
  return {
    name,
    wireType: LENGTH_DELIMITED,
    read: (reader, before) => appended(before, reader.string()),
  };
}

export function bytes(name: string): Field {
  return { name, wireType: LENGTH_DELIMITED, read: (reader) => reader.bytesValue() };
}

export function int32(name: string): Field {
  return { name, wireType: VARINT, read: (reader) => reader.int32() };
}

export function bool(name: string): Field {
  return { name, wireType: VARINT, read: (reader) => reader.bool() };
}

export function nested(name: string, fields: Message): Field {
  return {
    name,
    wireType: LENGTH_DELIMITED,
    read: (reader, before) => readNested(reader, fields, (before as Raw | undefined) ?? {}),
  };
}

export function repeated(name: string, fields: Message): Field {
  return {
    name,
    wireType: LENGTH_DELIMITED,
    read: (reader, before) => appended(before, readNested(reader, fields, {})),
  };
}

const entry: Message = message({
  1: text('key'),
  2: { name: 'value', wireType: LENGTH_DELIMITED, read: (reader) => reader.later() },
});

/** A `map<string, string>`, of which only these keys are read. */
export function entries(name: string, keys: readonly string[]): Field {
  return {
    name,
    wireType: LENGTH_DELIMITED,
    read(reader, before) {
      const { key = '', value } = readNested(reader, entry, {}) as { key?: string; value?: number };
      if (!keys.includes(key)) return before;
      const map = (before as Record<string, string> | undefined) ?? {};
      map[key] = value === undefined ? '' : reader.stringAt(value);
      return map;
    },
  };
}

const time: Message = message({ 1: { name: 'seconds', wireType: VARINT, read: (reader) => reader.int64() } });

/** The largest time of a Date, in seconds from 1970. */
const LAST_SECOND = 8_640_000_000_000;

/** A `metav1.Time`, as RFC 3339 in whole seconds. */
export function timestamp(name: string): Field {
  return {
    name,
    wireType: LENGTH_DELIMITED,
    read(reader) {
      const { seconds = 0 } = readNested(reader, time, {}) as { seconds?: number };
      if (Math.abs(seconds) > LAST_SECOND) throw reader.error(`an impossible time, ${seconds},`);
      return new Date(seconds * 1000).toISOString().replace('.000Z', 'Z');
    },
  };
}

/** Reads a message up to the end of the reader's bytes. Throws WireError. */
export function readMessage(reader: WireReader, fields: Message): Raw {
  return readFields(reader, fields, {});
}

function readNested(reader: WireReader, fields: Message, object: Raw): Raw {
  const outer = reader.enter();
  readFields(reader, fields, object);
  reader.leave(outer);
  return object;
}

function readFields(reader: WireReader, fields: Message, object: Raw): Raw {
  while (!reader.done) {
    const tag = reader.tag();
    const wireType = tag & 7;
    const field = fields[tag >>> 3];
    if (field === undefined) {
      reader.skip(wireType);
    } else {
      if (wireType !== field.wireType) throw reader.error(`${field.name} has the wire type ${wireType}`);
      const value = field.read(reader, object[field.name]);
      if (value !== undefined) object[field.name] = value;
    }
  }
  return object;
}

function appended<T>(list: unknown, member: T): readonly T[] {
  if (list === undefined) return [member];
  (list as T[]).push(member);
  return list as T[];
}
