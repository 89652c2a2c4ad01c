/** Messages of nf_tables as records (docs/internals/spec/nft-netlink.md §5, §6), for reading and for writing. */

import type { SetElement } from '../../../domain/nftables/layout/table.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import {
  AttributeLayout,
  attributesOf,
  bytes,
  listOf,
  long,
  nested,
  number,
  signed,
  text,
  word,
  type Fields,
  type Form,
  type Values,
} from './attribute-layout.js';
import { data, expressions } from './expressions.js';
import * as nf from './nf-tables.js';
import { DIGEST_LENGTH, USERDATA } from './nf-tables.js';

/** Other parts than a comment are written in their places. */
const userdata: Form<Userdata> = {
  read: (attribute) => readUserdata(attribute.value()),
  write(writer, type, { comment }) {
    if (comment !== undefined) writer.putBytes(type, commentUserdata(comment));
  },
};
const HOOK = new AttributeLayout({
  hook: [1, word({ prerouting: 0, input: 1, forward: 2, output: 3, postrouting: 4 })],
  priority: [2, signed],
});

/** The length of a field of a concatenation. */
const FIELD = new AttributeLayout({ length: [1, number] });
const DESCRIPTION = new AttributeLayout({
  size: [1, number],
  fields: [2, listOf(nested(FIELD))],
});
const ELEMENT = new AttributeLayout({
  key: [nf.ELEMENT.KEY, data],
  data: [nf.ELEMENT.DATA, data],
  flags: [nf.ELEMENT.FLAGS, number],
  userdata: [nf.ELEMENT.USERDATA, userdata],
  lastKey: [nf.ELEMENT.LAST_KEY, data],
});

export const TABLE = new AttributeLayout({
  name: [1, text],
  flags: [2, number],
  handle: [4, number],
  userdata: [6, userdata],
});
export const CHAIN = new AttributeLayout({
  table: [1, text],
  handle: [2, number],
  name: [3, text],
  type: [7, text],
  hook: [4, nested(HOOK)],
  policy: [5, number],
  flags: [10, number],
});

/** Where a rule is, without what it does. */
export const RULE_PLACE = new AttributeLayout({ table: [1, text], chain: [2, text] });
export const RULE = new AttributeLayout({
  ...RULE_PLACE.fields,
  expressions: [4, expressions],
  userdata: [7, userdata],
});
export const SET = new AttributeLayout({
  table: [1, text],
  name: [2, text],
  flags: [3, number],
  keyType: [4, number],
  keyLength: [5, number],
  dataType: [6, number],
  dataLength: [7, number],
  id: [10, number],
  description: [9, nested(DESCRIPTION)],
  /** Of elements, in milliseconds. */
  timeout: [11, long],
  userdata: [13, bytes],
  /** Only in dumps of recent kernels. */
  count: [20, number],
});
const COUNTED = new AttributeLayout({ bytes: [1, long], packets: [2, long] });

/** A named object; of its own attributes, those of a counter. */
export const OBJECT = new AttributeLayout({
  table: [1, text],
  name: [2, text],
  type: [3, number],
  data: [4, nested(COUNTED)],
});
export const ELEMENTS = new AttributeLayout({
  table: [nf.ELEMENTS.TABLE, text],
  set: [nf.ELEMENTS.SET, text],
  list: [nf.ELEMENTS.LIST, listOf(nested(ELEMENT))],
});
export const GENERATION = new AttributeLayout({
  id: [1, number],
  process: [2, number],
});

export type TableRecord = Values<typeof TABLE.fields>;
export type ChainRecord = Values<typeof CHAIN.fields>;
export type RuleRecord = Values<typeof RULE.fields>;
export type SetRecord = Values<typeof SET.fields>;
export type ElementRecord = Values<typeof ELEMENT.fields>;

/** The object in a message. */
export function recordOf<F extends Fields>(layout: AttributeLayout<F>, message: NetlinkMessage): Values<F> {
  return layout.read(attributesOf(message));
}

export type Userdata = Pick<SetElement, 'comment' | 'digest'>;

/** The userdata of a rule or element, between these positions. */
export function readUserdata(bytes: Buffer, start = 0, end = bytes.length): Userdata {
  let comment: string | undefined;
  let digest: number | undefined;
  for (let at = start; at + 2 <= end; at += 2 + bytes[at + 1]!) {
    const [type, length] = [bytes[at], bytes[at + 1]!];
    const valueEnd = Math.min(end, at + 2 + length);
    // A text ends with a zero.
    if (type === USERDATA.COMMENT) comment = bytes.toString('utf8', at + 2, valueEnd - 1);
    else if (type === USERDATA.DIGEST && length === DIGEST_LENGTH && at + 2 + length <= end)
      digest = bytes.readDoubleLE(at + 2);
  }
  return { comment, digest };
}

/** Userdata of a table, rule or element: its comment. */
function commentUserdata(comment: string): Buffer {
  return userdataEntry(USERDATA.COMMENT, closedText(comment));
}

export function userdataEntry(type: number, value: Uint8Array): Buffer {
  if (value.length > 255) throw new RangeError(`userdata of ${value.length} bytes`);
  return Buffer.concat([Uint8Array.of(type, value.length), value]);
}

export function closedText(text: string): Buffer {
  return Buffer.from(`${text}\0`);
}
