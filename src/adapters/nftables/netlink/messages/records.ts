import type { NetlinkMessage } from '../../../netlink/message-reader.js';
import * as nf from '../nf-tables.js';
import {
  AttributeLayout,
  attributesOf,
  bytes,
  listOf,
  nested,
  number,
  text,
  type Fields,
  type Form,
  type Values,
} from './attribute-layout.js';
import { data, expressions } from './expressions.js';
import { commentUserdata, readUserdata, type Userdata } from './userdata.js';

/* What messages of nf_tables tell (docs/spec/nft-netlink.md §5, §6), whether the kernel lists it or it is sent to the kernel. */

/** What else is in it than a comment is written where it belongs. */
const userdata: Form<Userdata> = {
  read: (attribute) => readUserdata(attribute.value()),
  write(writer, type, { comment }) {
    if (comment !== undefined) writer.putBytes(type, commentUserdata(comment));
  },
};
const HOOK = new AttributeLayout({ number: [nf.HOOK.NUMBER, number], priority: [nf.HOOK.PRIORITY, number] });
const FIELD = new AttributeLayout({ length: [nf.FIELD_LENGTH, number] });
const DESCRIPTION = new AttributeLayout({
  size: [nf.DESCRIPTION_SIZE, number],
  fields: [nf.DESCRIPTION_CONCATENATION, listOf(nested(FIELD))],
});
const ELEMENT = new AttributeLayout({
  key: [nf.ELEMENT.KEY, data],
  data: [nf.ELEMENT.DATA, data],
  flags: [nf.ELEMENT.FLAGS, number],
  userdata: [nf.ELEMENT.USERDATA, userdata],
  lastKey: [nf.ELEMENT.LAST_KEY, data],
});

export const TABLE = new AttributeLayout({
  name: [nf.TABLE.NAME, text],
  flags: [nf.TABLE.FLAGS, number],
  handle: [nf.TABLE.HANDLE, number],
  userdata: [nf.TABLE.USERDATA, userdata],
});
export const CHAIN = new AttributeLayout({
  table: [nf.CHAIN.TABLE, text],
  handle: [nf.CHAIN.HANDLE, number],
  name: [nf.CHAIN.NAME, text],
  hook: [nf.CHAIN.HOOK, nested(HOOK)],
  policy: [nf.CHAIN.POLICY, number],
  type: [nf.CHAIN.TYPE, text],
});
export const RULE = new AttributeLayout({
  table: [nf.RULE.TABLE, text],
  chain: [nf.RULE.CHAIN, text],
  expressions: [nf.RULE.EXPRESSIONS, expressions],
  userdata: [nf.RULE.USERDATA, userdata],
});
export const SET = new AttributeLayout({
  table: [nf.SET.TABLE, text],
  name: [nf.SET.NAME, text],
  flags: [nf.SET.FLAGS, number],
  keyType: [nf.SET.KEY_TYPE, number],
  keyLength: [nf.SET.KEY_LENGTH, number],
  dataType: [nf.SET.DATA_TYPE, number],
  dataLength: [nf.SET.DATA_LENGTH, number],
  description: [nf.SET.DESCRIPTION, nested(DESCRIPTION)],
  id: [nf.SET.ID, number],
  userdata: [nf.SET.USERDATA, bytes],
  count: [nf.SET.COUNT, number],
});
export const ELEMENTS = new AttributeLayout({
  table: [nf.ELEMENTS.TABLE, text],
  set: [nf.ELEMENTS.SET, text],
  list: [nf.ELEMENTS.LIST, listOf(nested(ELEMENT))],
});
export const GENERATION = new AttributeLayout({
  id: [nf.GENERATION.ID, number],
  process: [nf.GENERATION.PROCESS, number],
});

export type TableRecord = Values<typeof TABLE.fields>;
export type ChainRecord = Values<typeof CHAIN.fields>;
export type RuleRecord = Values<typeof RULE.fields>;
export type SetRecord = Values<typeof SET.fields>;
export type ElementRecord = Values<typeof ELEMENT.fields>;

/** What a message tells of an object of that kind. */
export function recordOf<F extends Fields>(layout: AttributeLayout<F>, message: NetlinkMessage): Values<F> {
  return layout.read(attributesOf(message));
}
