import { aligned, NLA_TYPE_MASK } from './numbers.js';

/** The values of attributes by their types; of several of a type the last, as `nla_parse` keeps it. */
export type Attributes = ReadonlyMap<number, Buffer>;

/** Undefined where an attribute does not fit. */
export function attributesIn(bytes: Buffer): Attributes | undefined {
  const found = new Map<number, Buffer>();
  let at = 0;
  while (at + 4 <= bytes.length) {
    const length = bytes.readUInt16LE(at);
    if (length < 4 || at + length > bytes.length) return undefined;
    found.set(bytes.readUInt16LE(at + 2) & NLA_TYPE_MASK, bytes.subarray(at + 4, at + length));
    at += aligned(length);
  }
  return found;
}

/** The attributes inside of one; undefined where it is missing, or one of them does not fit. */
export function attributesWithin(attributes: Attributes, type: number): Attributes | undefined {
  const bytes = attributes.get(type);
  return bytes && attributesIn(bytes);
}

/** Text of an attribute, with or without the zero byte at its end. */
export function textOf(bytes: Buffer): string {
  const end = bytes.indexOf(0);
  return bytes.toString('latin1', 0, end < 0 ? bytes.length : end);
}
