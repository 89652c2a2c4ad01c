import { MessageBuilder } from '../netlink/message-builder.js';
import {
  CHAIN,
  CHAIN_FLAG,
  COUNTER,
  DATA,
  DESC,
  ELEMENT,
  ELEMENT_FLAG,
  ELEMENTS,
  FIELD_LEN,
  HOOK,
  LIST_ELEM,
  OBJECT,
  OBJECT_COUNTER,
  RULE,
  SET,
  SET_FLAG,
  TABLE,
  VERDICT,
} from './numbers.js';
import {
  isFlagged,
  sizeOf,
  type Chain,
  type Counter,
  type Element,
  type NftSet,
  type Rule,
  type Table,
} from './objects.js';

/* How the kernel tells of what it keeps: the attributes of each message, in its order. */

const FIRST_WITH_COUNT = 616;

/** @param isGone for all of these: only what names it */
export function putTable(builder: MessageBuilder, table: Table, isGone = false): void {
  builder.text(TABLE.NAME, table.name);
  builder.be64(TABLE.HANDLE, table.handle);
  builder.be32(TABLE.USE, isGone ? 0 : table.chains.size + namedSetsIn(table) + table.counters.size);
  if (isGone) return;
  builder.be32(TABLE.FLAGS, table.flags);
  if (table.owner !== undefined) builder.be32(TABLE.OWNER, table.owner);
  if (table.userdata) builder.attribute(TABLE.USERDATA, table.userdata);
}

/** Sets without a name belong to the rules that look into them. */
function namedSetsIn({ sets }: Table): number {
  return [...sets.values()].filter((set) => !isFlagged(set, SET_FLAG.ANONYMOUS)).length;
}

export function putChain(builder: MessageBuilder, chain: Chain, isGone = false): void {
  builder.text(CHAIN.TABLE, chain.table.name);
  builder.text(CHAIN.NAME, chain.name);
  builder.be64(CHAIN.HANDLE, chain.handle);
  if (isGone) return;
  const { base } = chain;
  if (base) {
    builder.plainNest(CHAIN.HOOK, () =>
      builder.be32(HOOK.NUMBER, base.hook).be32(HOOK.PRIORITY, base.priority),
    );
    builder.be32(CHAIN.POLICY, base.policy);
    builder.text(CHAIN.TYPE, base.type);
    builder.be32(CHAIN.FLAGS, CHAIN_FLAG.BASE);
  }
  builder.be32(CHAIN.USE, chain.rules.length + chain.jumps);
  if (chain.userdata) builder.attribute(CHAIN.USERDATA, chain.userdata);
}

/** @param before the rule in front of it */
export function putRule(builder: MessageBuilder, rule: Rule, before?: Rule): void {
  builder.text(RULE.TABLE, rule.chain.table.name);
  builder.text(RULE.CHAIN, rule.chain.name);
  builder.be64(RULE.HANDLE, rule.handle);
  if (before) builder.be64(RULE.POSITION, before.handle);
  builder.attribute(RULE.EXPRESSIONS, rule.dumped);
  if (rule.userdata) builder.attribute(RULE.USERDATA, rule.userdata);
}

/** @param release of the kernel: recent ones tell how many elements it has */
export function putSet(builder: MessageBuilder, set: NftSet, release: number, isGone = false): void {
  builder.text(SET.TABLE, set.table.name);
  builder.text(SET.NAME, set.name);
  builder.be64(SET.HANDLE, set.handle);
  if (isGone) return;
  if (set.flags !== 0) builder.be32(SET.FLAGS, set.flags);
  builder.be32(SET.KEY_TYPE, set.keyType);
  builder.be32(SET.KEY_LEN, set.keyLength);
  if (isFlagged(set, SET_FLAG.MAP))
    builder.be32(SET.DATA_TYPE, set.dataType).be32(SET.DATA_LEN, set.dataLength);
  if (isFlagged(set, SET_FLAG.OBJECT)) builder.be32(SET.OBJ_TYPE, set.objectType);
  if (set.timeout !== 0) builder.be64(SET.TIMEOUT, set.timeout);
  if (set.gcInterval !== 0) builder.be32(SET.GC_INTERVAL, set.gcInterval);
  if (set.policy !== 0) builder.be32(SET.POLICY, set.policy);
  if (set.userdata) builder.attribute(SET.USERDATA, set.userdata);
  builder.plainNest(SET.DESC, () => putDescription(builder, set));
  if (set.expressions) builder.attribute(set.expressions.type, set.expressions.bytes);
  if (release >= FIRST_WITH_COUNT) builder.be32(SET.COUNT, countOf(set));
}

/** Of ranges, which are two elements, the kernel tells the number of pairs. */
function countOf(set: NftSet): number {
  const isPairs = isFlagged(set, SET_FLAG.INTERVAL) && !isFlagged(set, SET_FLAG.CONCAT);
  return isPairs ? Math.floor(sizeOf(set) / 2) : sizeOf(set);
}

function putDescription(builder: MessageBuilder, { size, fields }: NftSet): void {
  if (size !== 0) builder.be32(DESC.SIZE, size);
  if (fields.length < 2) return;
  builder.plainNest(DESC.CONCAT, () => {
    for (const length of fields) builder.plainNest(LIST_ELEM, () => builder.be32(FIELD_LEN, length));
  });
}

/** A message about elements of a set, whose list `put` fills. */
export function putElements(builder: MessageBuilder, set: NftSet, put: () => void): void {
  builder.text(ELEMENTS.TABLE, set.table.name);
  builder.text(ELEMENTS.SET, set.name);
  builder.plainNest(ELEMENTS.LIST, put);
}

const elementBuilder = new MessageBuilder();

export function putElement(builder: MessageBuilder, set: NftSet, element: Element, now: number): void {
  if (isFlagged(set, SET_FLAG.TIMEOUT))
    return void builder.plainNest(LIST_ELEM, () => putElementParts(builder, set, element, now));
  if (!element.listed) {
    putElementParts(elementBuilder, set, element, now);
    element.listed = elementBuilder.take();
  }
  builder.attribute(LIST_ELEM, element.listed);
}

function putElementParts(builder: MessageBuilder, set: NftSet, element: Element, now: number): void {
  const { key, keyEnd, value, verdict, expressions } = element;
  const put = (type: number, bytes: Buffer) =>
    builder.plainNest(type, () => builder.attribute(DATA.VALUE, bytes));
  if (key) put(ELEMENT.KEY, key);
  if (keyEnd) put(ELEMENT.KEY_END, keyEnd);
  if (value) put(ELEMENT.DATA, value);
  if (verdict)
    builder.plainNest(ELEMENT.DATA, () =>
      builder.plainNest(DATA.VERDICT, () => {
        builder.be32(VERDICT.CODE, verdict.code);
        if (verdict.chain) builder.text(VERDICT.CHAIN, verdict.chain.name);
      }),
    );
  if (expressions) builder.attribute(expressions.type, expressions.bytes);
  if (element.counter) builder.text(ELEMENT.OBJREF, element.counter.name);
  if (element.flags !== 0) builder.be32(ELEMENT.FLAGS, element.flags);
  const isEnd = (element.flags & ELEMENT_FLAG.INTERVAL_END) !== 0;
  if (isFlagged(set, SET_FLAG.TIMEOUT) && !isEnd && element.timeout !== set.timeout)
    builder.be64(ELEMENT.TIMEOUT, element.timeout);
  if (element.timeout !== 0) builder.be64(ELEMENT.EXPIRATION, Math.max(0, Math.round(element.expires - now)));
  if (element.userdata) builder.attribute(ELEMENT.USERDATA, element.userdata);
}

export function putCounter(builder: MessageBuilder, counter: Counter, isGone = false): void {
  builder.text(OBJECT.TABLE, counter.table.name);
  builder.text(OBJECT.NAME, counter.name);
  builder.be64(OBJECT.HANDLE, counter.handle);
  builder.be32(OBJECT.TYPE, OBJECT_COUNTER);
  if (isGone) return;
  builder.be32(OBJECT.USE, counter.uses);
  builder.plainNest(OBJECT.DATA, () =>
    builder.be64(COUNTER.BYTES, counter.bytes).be64(COUNTER.PACKETS, counter.packets),
  );
  if (counter.userdata) builder.attribute(OBJECT.USERDATA, counter.userdata);
}
