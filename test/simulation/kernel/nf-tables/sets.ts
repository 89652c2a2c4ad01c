import { attributesOf, naming, Refusal, within, type Attributes } from '../netlink/attributes.js';
import { E, NLM_F } from '../netlink/numbers.js';
import * as nf from './numbers.js';
import {
  findSet,
  named,
  present,
  isFlagged,
  tableOf,
  type Chain,
  type Context,
  type Element,
  type Message,
  type NftSet,
  type Table,
} from './objects.js';
import { lookForCircle, lookLater } from './reach.js';
import { valueIn, verdictIn } from './sent-expression.js';
import type { Transaction } from './transaction.js';

const ALL_FLAGS = Object.values(nf.SET_FLAG).reduce((all, flag) => all | flag, 0);
const { ANONYMOUS, CONSTANT, INTERVAL, MAP, TIMEOUT, EVAL, OBJECT, CONCAT } = nf.SET_FLAG;
/** Flags that exclude each other. */
const EXCLUSIVE = [MAP | OBJECT, EVAL | OBJECT, CONSTANT | TIMEOUT];
const RESERVED_TYPE = 0xffff_ff00;
const { INTERVAL_END, CATCHALL } = nf.ELEMENT_FLAG;
/** What the end of a range cannot have. */
const NOT_OF_ENDS = [nf.ELEMENT.DATA, nf.ELEMENT.TIMEOUT, nf.ELEMENT.EXPIRATION, nf.ELEMENT.USERDATA];
const END_MARK = 'e';
/** Extensions of an element are found by offsets of one byte, and user data is the last of them. */
const MOST_USERDATA = 255;

type Layout = Pick<
  NftSet,
  'flags' | 'keyType' | 'keyLength' | 'dataType' | 'dataLength' | 'timeout' | 'size'
>;

export function newSet(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, request } = message;
  for (const needed of [nf.SET.TABLE, nf.SET.NAME, nf.SET.KEY_LEN, nf.SET.ID])
    if (!attributes.has(needed)) throw new Refusal(E.EINVAL);
  const layout = layoutIn(attributes);
  const table = tableOf(context, message);
  const name = attributes.text(nf.SET.NAME)!;
  const found = present(table.sets, name, message, nf.SET.NAME);
  if (found) return update(context, transaction, found, layout, attributes.at(nf.SET.NAME));
  if (!request.has(NLM_F.CREATE)) throw new Refusal(E.ENOENT);
  const { flags, size } = layout;
  if ((flags & INTERVAL) !== 0 && (flags & EVAL) !== 0) throw new Refusal(E.EOPNOTSUPP);
  const set: NftSet = {
    ...layout,
    growsWithRules: (flags & INTERVAL) === 0 && (size === 0 || (flags & (EVAL | TIMEOUT)) !== 0),
    table,
    name: withNumber(table, name),
    handle: ++table.lastHandle,
    userdata: attributes.copy(nf.SET.USERDATA, nf.MAX_USERDATA_LENGTH),
    elements: new Map(),
    bindings: new Set(),
    targets: new Map(),
  };
  table.sets.set(set.name, set);
  transaction.sets.set(attributes.be32(nf.SET.ID)!, set);
  if (isFlagged(set, ANONYMOUS)) transaction.unbound.add(set);
  transaction.did(table, nf.MSG.NEWSET, set, () => table.sets.delete(set.name));
}

export function deleteSet(context: Context, transaction: Transaction, message: Message): void {
  const { attributes } = message;
  const table = tableOf(context, message);
  const set = named(table.sets, attributes, nf.SET.NAME);
  if (set.bindings.size > 0) throw new Refusal(E.EBUSY, attributes.at(nf.SET.NAME));
  transaction.unbound.delete(set);
  transaction.noJumpsOf(set);
  transaction.takeOut(table, nf.MSG.DELSET, table.sets, set.name);
}

function layoutIn(attributes: Attributes): Layout {
  const keyType = attributes.be32(nf.SET.KEY_TYPE) ?? 0;
  const keyLength = attributes.be32(nf.SET.KEY_LEN)!;
  const flags = attributes.be32(nf.SET.FLAGS) ?? 0;
  if (isReserved(keyType) || !isLength(keyLength)) throw new Refusal(E.EINVAL);
  const isImpossible =
    (flags & ~ALL_FLAGS) !== 0 ||
    EXCLUSIVE.some((both) => (flags & both) === both) ||
    (flags & (ANONYMOUS | TIMEOUT | EVAL)) === (ANONYMOUS | TIMEOUT);
  // Concatenations of ranges and maps of objects are not here.
  if (isImpossible || (flags & (CONCAT | OBJECT)) !== 0) throw new Refusal(E.EOPNOTSUPP);
  const data = dataOf(attributes, flags);
  if ((flags & TIMEOUT) === 0 && attributes.has(nf.SET.TIMEOUT)) throw new Refusal(E.EINVAL);
  const size = attributes.nested(nf.SET.DESC)?.be32(nf.DESC.SIZE) ?? 0;
  return { flags, keyType, keyLength, ...data, timeout: attributes.be64(nf.SET.TIMEOUT) ?? 0, size };
}

function dataOf(attributes: Attributes, flags: number): Pick<Layout, 'dataType' | 'dataLength'> {
  const dataType = attributes.be32(nf.SET.DATA_TYPE);
  if ((dataType !== undefined) !== ((flags & MAP) !== 0)) throw new Refusal(E.EINVAL);
  if (dataType === undefined) return { dataType: 0, dataLength: 0 };
  if (dataType === nf.DATA_VERDICT) return { dataType, dataLength: nf.VERDICT_LENGTH };
  const dataLength = attributes.be32(nf.SET.DATA_LEN);
  if (isReserved(dataType) || !isLength(dataLength)) throw new Refusal(E.EINVAL);
  return { dataType, dataLength };
}

function isReserved(type: number): boolean {
  return (type & RESERVED_TYPE) >>> 0 === RESERVED_TYPE;
}

function isLength(length: number | undefined): length is number {
  return length !== undefined && length > 0 && length <= nf.MAX_VALUE_LENGTH;
}

/** Adding a set that is there: it must be the same; before Linux 6.2 nobody looks. */
function update(
  { release }: Context,
  transaction: Transaction,
  set: NftSet,
  layout: Layout,
  at: number | undefined,
): void {
  if (release < 602) return;
  const compared = ['flags', 'keyType', 'keyLength', 'dataType', 'dataLength'] as const;
  if (compared.some((part) => set[part] !== layout[part])) throw new Refusal(E.EEXIST, at);
  if (release < 605) return;
  transaction.did(set.table, nf.MSG.NEWSET, set, () => undefined);
  transaction.later(() => {
    set.timeout = layout.timeout;
    if (layout.size !== 0) set.size = layout.size;
  });
}

/** The name with the lowest free number in place of `%d`. */
function withNumber(table: Table, name: string): string {
  const [start = '', end] = name.split('%d');
  for (let number = 0; end !== undefined && number <= 0xffff; number++)
    if (!table.sets.has(`${start}${number}${end}`)) return `${start}${number}${end}`;
  if (name.includes('%')) throw new Refusal(end === undefined ? E.EINVAL : E.ENFILE);
  return name;
}

/** Stops at the first element that it cannot add. */
export function newElements(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, request } = message;
  const list = attributes.at(nf.ELEMENTS.LIST);
  if (list === undefined) throw new Refusal(E.EINVAL);
  const set = setOf(context, message, transaction.sets);
  const isFixed = isFlagged(set, CONSTANT) || isFlagged(set, ANONYMOUS);
  if (isFixed && set.bindings.size > 0) throw new Refusal(E.EBUSY);
  for (const at of within(request.bytes, list))
    naming(at, () => {
      const element = elementIn(set, attributesOf(request.bytes, at), transaction.now);
      add(context, transaction, set, element, request.has(NLM_F.EXCL));
    });
}

/** Deletes elements by their keys, or all of a set. */
export function deleteElements(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, request } = message;
  const set = setOf(context, message);
  if (isFlagged(set, ANONYMOUS)) throw new Refusal(E.EOPNOTSUPP);
  if (isFlagged(set, CONSTANT) && set.bindings.size > 0) throw new Refusal(E.EBUSY);
  const list = attributes.at(nf.ELEMENTS.LIST);
  if (list === undefined)
    for (const element of [...set.elements.values()])
      if (element.expires > transaction.now) remove(transaction, set, element);
  for (const at of within(request.bytes, list))
    naming(at, () => {
      const element = findElement(set, request.bytes, at, transaction.now);
      if (!element) throw new Refusal(E.ENOENT);
      remove(transaction, set, element);
    });
}

/** The element whose key is in the entry that begins here. @throws Refusal for what cannot be a key */
export function findElement(set: NftSet, bytes: Buffer, at: number, now: number): Element | undefined {
  const entry = attributesOf(bytes, at);
  const element = set.elements.get(idOf(set, entry, flagsIn(set, entry)));
  return element && element.expires > now ? element : undefined;
}

/** Whether there is room for one more, if need be in place of what has timed out. */
function hasRoom(set: NftSet, now: number): boolean {
  const isFull = (): boolean => set.size !== 0 && set.elements.size >= set.size;
  if (isFull() && isFlagged(set, TIMEOUT))
    for (const [id, element] of set.elements) if (element.expires <= now) set.elements.delete(id);
  return !isFull();
}

/** The set that a message about elements names. @throws Refusal */
export function setOf(context: Context, message: Message, numbered?: ReadonlyMap<number, NftSet>): NftSet {
  const { attributes } = message;
  const table = tableOf(context, message);
  const set = findSet(table, attributes.text(nf.ELEMENTS.SET), attributes.be32(nf.ELEMENTS.SET_ID), numbered);
  if (!set) throw new Refusal(E.ENOENT, attributes.at(nf.ELEMENTS.SET));
  return set;
}

function flagsIn(set: NftSet, entry: Attributes): number {
  const flags = entry.be32(nf.ELEMENT.FLAGS) ?? 0;
  if ((flags & ~(INTERVAL_END | CATCHALL)) !== 0) throw new Refusal(E.EOPNOTSUPP);
  const isMisplaced = (flags & INTERVAL_END) !== 0 && !isFlagged(set, INTERVAL);
  if (isMisplaced || ((flags & CATCHALL) !== 0) === entry.has(nf.ELEMENT.KEY)) throw new Refusal(E.EINVAL);
  return flags;
}

function idOf(set: NftSet, entry: Attributes, flags: number): string {
  if ((flags & CATCHALL) !== 0) return '';
  const key = valueIn(entry.nested(nf.ELEMENT.KEY), set.keyLength).toString('latin1');
  return (flags & INTERVAL_END) === 0 ? key : key + END_MARK;
}

function elementIn(set: NftSet, entry: Attributes, now: number): Element {
  const flags = flagsIn(set, entry);
  const isEnd = (flags & INTERVAL_END) !== 0;
  const data = entry.nested(nf.ELEMENT.DATA);
  const isTimed = entry.has(nf.ELEMENT.TIMEOUT) || entry.has(nf.ELEMENT.EXPIRATION);
  const isImpossible =
    (isFlagged(set, MAP) ? !data && !isEnd : data !== undefined) ||
    (isEnd && NOT_OF_ENDS.some((type) => entry.has(type))) ||
    (isTimed && !isFlagged(set, TIMEOUT));
  if (isImpossible) throw new Refusal(E.EINVAL);
  const timeout = entry.be64(nf.ELEMENT.TIMEOUT) ?? (isEnd ? 0 : set.timeout);
  const left = entry.be64(nf.ELEMENT.EXPIRATION);
  if (left !== undefined && left > timeout) throw new Refusal(timeout === 0 ? E.EOPNOTSUPP : E.ERANGE);
  const id = idOf(set, entry, flags);
  const key = entry.nested(nf.ELEMENT.KEY)?.copy(nf.DATA.VALUE, nf.MAX_VALUE_LENGTH);
  const userdata = entry.value(nf.ELEMENT.USERDATA);
  if (userdata && userdata.length > MOST_USERDATA) throw new Refusal(E.EINVAL);
  const isVerdict = set.dataType === nf.DATA_VERDICT;
  return {
    ...{ id, key, flags, timeout },
    value: data && !isVerdict ? Buffer.from(valueIn(data, set.dataLength)) : undefined,
    verdict: data && isVerdict ? verdictIn(set.table, data) : undefined,
    userdata: entry.copy(nf.ELEMENT.USERDATA, MOST_USERDATA),
    expires: timeout === 0 ? Infinity : now + (left ?? timeout),
  };
}

function add(
  context: Context,
  transaction: Transaction,
  set: NftSet,
  element: Element,
  mustBeNew: boolean,
): void {
  const { elements } = set;
  const former = elements.get(element.id);
  if (former && former.expires > transaction.now) {
    if (!isSame(former, element) || mustBeNew) throw new Refusal(E.EEXIST);
    // Since Linux 6.12 the timeout of an element can be changed.
    if (context.release >= 612 && isFlagged(set, TIMEOUT)) updateTimeout(transaction, set, former, element);
    return;
  }
  const target = element.verdict?.chain;
  if (target) {
    for (const { chain, isMapped } of set.bindings) if (isMapped) lookForCircle(context, chain, target);
    lookLater(set.table);
  }
  if (!hasRoom(set, transaction.now)) throw new Refusal(E.ENFILE);
  elements.set(element.id, element);
  if (target) {
    transaction.jumpTo(target);
    count(set, target, 1);
  }
  transaction.did(set.table, nf.MSG.NEWSETELEM, { set, element }, () => {
    if (former) elements.set(element.id, former);
    else elements.delete(element.id);
    if (target) count(set, target, -1);
  });
}

function isSame(present: Element, { value, verdict }: Element): boolean {
  const isSameValue = value ? (present.value?.equals(value) ?? false) : present.value === undefined;
  const { verdict: its } = present;
  return isSameValue && its?.code === verdict?.code && its?.chain === verdict?.chain;
}

function updateTimeout(
  transaction: Transaction,
  set: NftSet,
  present: Element,
  { timeout, expires }: Element,
): void {
  if (present.timeout === timeout) return;
  const former = { timeout: present.timeout, expires: present.expires };
  Object.assign(present, { timeout, expires });
  transaction.did(set.table, nf.MSG.NEWSETELEM, { set, element: present }, () =>
    Object.assign(present, former),
  );
}

function remove(transaction: Transaction, set: NftSet, element: Element): void {
  const { elements } = set;
  elements.delete(element.id);
  const target = element.verdict?.chain;
  if (target) {
    transaction.jumpTo(target, -1);
    transaction.held.add(target);
    count(set, target, -1);
  }
  transaction.did(set.table, nf.MSG.DELSETELEM, { set, element }, () => {
    elements.set(element.id, element);
    if (target) count(set, target, 1);
  });
}

/** How many elements of the set lead to a chain. */
function count({ targets }: NftSet, chain: Chain, by: number): void {
  const left = (targets.get(chain) ?? 0) + by;
  if (left === 0) targets.delete(chain);
  else targets.set(chain, left);
}
