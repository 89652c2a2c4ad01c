import type { MessageWriter } from '../../../src/adapters/netlink/message-writer.js';

/** The value of an attribute: a number of four bytes, of one or of eight, a text, bytes in hex, or attributes. */
export type RawValue =
  | number
  | string
  | { readonly byte: number }
  | { readonly long: number }
  | { readonly hex: string }
  | RawAttributes;
export type RawAttributes = readonly (readonly [type: number, value: RawValue])[];

/** A message to nf_tables in numbers: of what no encoder of ours writes, and nft of the machine may be too old for. */
export interface RawMessage {
  readonly type: number;
  readonly flags?: number;
  readonly family: number;
  readonly attributes: RawAttributes;
}

export function putAttributes(writer: MessageWriter, attributes: RawAttributes): void {
  for (const [type, value] of attributes) putValue(writer, type, value);
}

function putValue(writer: MessageWriter, type: number, value: RawValue): void {
  if (typeof value === 'number') writer.putU32(type, value);
  else if (typeof value === 'string') writer.putText(type, value);
  else if ('byte' in value) writer.putU8(type, value.byte);
  else if ('long' in value) writer.putU64(type, value.long);
  else if ('hex' in value) writer.putBytes(type, Buffer.from(value.hex, 'hex'));
  else {
    const nest = writer.beginNest(type);
    putAttributes(writer, value);
    writer.endNest(nest);
  }
}
