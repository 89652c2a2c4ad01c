import { E, NLM_F } from '../../netlink/numbers.js';
import { attributesOf, naming, Refusal, within, type Attributes } from '../../netlink/attributes.js';
import { findSet, tableOf, type Context, type Message } from '../context.js';
import { valueIn } from '../expressions/sent-expression.js';
import { DATA, DATA_VERDICT, ELEMENT, ELEMENT_FLAG, ELEMENTS, MSG, SET_FLAG } from '../numbers.js';
import { isFlagged, sizeOf, type Element, type NftSet } from '../objects.js';
import { lookForCircle, lookLater } from './reach.js';
import type { Transaction } from './transaction.js';
import { verdictIn } from './verdicts.js';

const { INTERVAL_END, CATCHALL } = ELEMENT_FLAG;
/** What the end of a range cannot have. */
const NOT_OF_ENDS = [
  ELEMENT.DATA,
  ELEMENT.OBJREF,
  ELEMENT.TIMEOUT,
  ELEMENT.EXPIRATION,
  ELEMENT.USERDATA,
  ELEMENT.EXPR,
  ELEMENT.KEY_END,
  ELEMENT.EXPRESSIONS,
];
/** Since then the timeout of an element can be changed. */
const FIRST_WITH_TIMEOUT_UPDATES = 612;
const END_MARK = 'e';
/** Extensions of an element are found by offsets of one byte, and user data is the last of them. */
const MOST_USERDATA = 255;

/** What was made of an element by a transaction. */
export interface ElementNotice {
  readonly set: NftSet;
  readonly element: Element;
}

/** Stops at the first element that it cannot add. */
export function newElements(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, bytes, flags } = message;
  const list = attributes.at(ELEMENTS.LIST);
  if (list === undefined) throw new Refusal(E.EINVAL);
  const set = setOf(context, transaction, message);
  const isFixed = isFlagged(set, SET_FLAG.CONSTANT) || isFlagged(set, SET_FLAG.ANONYMOUS);
  if (isFixed && set.bindings.size > 0) throw new Refusal(E.EBUSY);
  for (const at of within(bytes, list))
    naming(at, () => add(context, transaction, set, elementIn(set, bytes, at, transaction.now), flags));
}

/** Deletes elements by their keys, or all of a set. */
export function deleteElements(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, bytes, kind } = message;
  const set = setOf(context, undefined, message, transaction.port);
  if (isFlagged(set, SET_FLAG.ANONYMOUS)) throw new Refusal(E.EOPNOTSUPP);
  if (isFlagged(set, SET_FLAG.CONSTANT) && set.bindings.size > 0) throw new Refusal(E.EBUSY);
  const list = attributes.at(ELEMENTS.LIST);
  if (list === undefined) {
    for (const element of [...set.elements.values()])
      if (element.expires > transaction.now) remove(transaction, set, element);
    return;
  }
  for (const at of within(bytes, list))
    naming(at, () => {
      const element = findElement(set, bytes, at, transaction.now);
      if (element) remove(transaction, set, element);
      else if (kind !== MSG.DESTROYSETELEM) throw new Refusal(E.ENOENT);
    });
}

/** The element whose key is in the entry that begins here. @throws Refusal for what cannot be a key */
export function findElement(set: NftSet, bytes: Buffer, at: number, now: number): Element | undefined {
  const entry = attributesOf(bytes, at);
  const flags = flagsIn(set, entry);
  const element = set.elements.get(idOf(set, entry, flags));
  return element && element.expires > now ? element : undefined;
}

/** Takes out what has timed out. */
function collectExpired(set: NftSet, now: number): void {
  if (!isFlagged(set, SET_FLAG.TIMEOUT)) return;
  for (const [id, element] of set.elements) if (element.expires <= now) set.elements.delete(id);
}

/** What a rule adds to a set when a packet meets it. Returns false if there is no room. */
export function addRemembered(set: NftSet, key: Buffer, timeout: number, now: number): boolean {
  const id = key.toString('latin1');
  const present = set.elements.get(id);
  const expires = now + timeout;
  if (present && present.expires > now) {
    present.expires = expires;
    return true;
  }
  collectExpired(set, now);
  if (set.size !== 0 && sizeOf(set) >= set.size) return false;
  const none = {
    keyEnd: undefined,
    value: undefined,
    verdict: undefined,
    counter: undefined,
    userdata: undefined,
  };
  set.elements.set(id, { id, key, ...none, flags: 0, expressions: set.expressions, timeout, expires });
  return true;
}

function setOf(
  context: Context,
  transaction: Transaction | undefined,
  message: Message,
  port = transaction?.port ?? 0,
): NftSet {
  const { attributes } = message;
  const table = tableOf(context, message, ELEMENTS.TABLE, port);
  const [name, id] = [attributes.text(ELEMENTS.SET), attributes.be32(ELEMENTS.SET_ID)];
  const set = findSet(table, name, id, transaction);
  if (!set) throw new Refusal(E.ENOENT, attributes.at(ELEMENTS.SET));
  return set;
}

function flagsIn(set: NftSet, entry: Attributes): number {
  const flags = entry.be32(ELEMENT.FLAGS) ?? 0;
  if ((flags & ~(INTERVAL_END | CATCHALL)) !== 0) throw new Refusal(E.EOPNOTSUPP);
  if ((flags & INTERVAL_END) !== 0 && !isFlagged(set, SET_FLAG.INTERVAL)) throw new Refusal(E.EINVAL);
  if (flags === (INTERVAL_END | CATCHALL)) throw new Refusal(E.EINVAL);
  if (((flags & CATCHALL) !== 0) === entry.has(ELEMENT.KEY)) throw new Refusal(E.EINVAL);
  return flags;
}

function idOf(set: NftSet, entry: Attributes, flags: number): string {
  if ((flags & CATCHALL) !== 0) return '';
  const key = valueIn(entry.nested(ELEMENT.KEY), set.keyLength).toString('latin1');
  const isConcatenatedRange = isFlagged(set, SET_FLAG.INTERVAL) && isFlagged(set, SET_FLAG.CONCAT);
  if (!isConcatenatedRange) return (flags & INTERVAL_END) === 0 ? key : key + END_MARK;
  const end = entry.has(ELEMENT.KEY_END)
    ? valueIn(entry.nested(ELEMENT.KEY_END), set.keyLength).toString('latin1')
    : key;
  return `${key}-${end}`;
}

function elementIn(set: NftSet, bytes: Buffer, at: number, now: number): Element {
  const entry = attributesOf(bytes, at);
  const flags = flagsIn(set, entry);
  checkParts(set, entry, flags);
  const isEnd = (flags & INTERVAL_END) !== 0;
  const timeout = entry.be64(ELEMENT.TIMEOUT) ?? (isEnd ? 0 : set.timeout);
  const left = entry.be64(ELEMENT.EXPIRATION);
  if (left !== undefined && timeout === 0) throw new Refusal(E.EOPNOTSUPP);
  if (left !== undefined && left > timeout) throw new Refusal(E.ERANGE);
  const id = idOf(set, entry, flags);
  const key = entry.nested(ELEMENT.KEY)?.value(DATA.VALUE);
  const keyEnd = entry.nested(ELEMENT.KEY_END)?.value(DATA.VALUE);
  const userdata = entry.value(ELEMENT.USERDATA);
  if (userdata && userdata.length > MOST_USERDATA) throw new Refusal(E.EINVAL);
  return {
    id,
    key: key && Buffer.from(key),
    keyEnd: keyEnd && Buffer.from(keyEnd),
    ...dataIn(set, entry),
    counter: counterIn(set, entry),
    flags,
    userdata: userdata && userdata.length > 0 ? Buffer.from(userdata) : undefined,
    expressions: expressionsIn(entry) ?? (isEnd ? undefined : set.expressions),
    timeout,
    expires: timeout === 0 ? Infinity : now + (left ?? timeout),
  };
}

/** Whether an element has what elements of this set have. */
function checkParts(set: NftSet, entry: Attributes, flags: number): void {
  const isEnd = (flags & INTERVAL_END) !== 0;
  const [hasData, hasObject] = [entry.has(ELEMENT.DATA), entry.has(ELEMENT.OBJREF)];
  const isWrong = (isThere: boolean, belongs: boolean): boolean => (belongs ? !isThere && !isEnd : isThere);
  if (isWrong(hasData, isFlagged(set, SET_FLAG.MAP))) throw new Refusal(E.EINVAL);
  if (isWrong(hasObject, isFlagged(set, SET_FLAG.OBJECT))) throw new Refusal(E.EINVAL);
  const isConcatenatedRange = isFlagged(set, SET_FLAG.INTERVAL) && isFlagged(set, SET_FLAG.CONCAT);
  if (isConcatenatedRange ? isEnd : entry.has(ELEMENT.KEY_END)) throw new Refusal(E.EINVAL);
  if (isEnd && NOT_OF_ENDS.some((type) => entry.has(type))) throw new Refusal(E.EINVAL);
  const isTimed = entry.has(ELEMENT.TIMEOUT) || entry.has(ELEMENT.EXPIRATION);
  if (isTimed && !isFlagged(set, SET_FLAG.TIMEOUT)) throw new Refusal(E.EINVAL);
}

function dataIn(set: NftSet, entry: Attributes): Pick<Element, 'value' | 'verdict'> {
  const data = entry.nested(ELEMENT.DATA);
  if (!data) return { value: undefined, verdict: undefined };
  if (set.dataType !== DATA_VERDICT)
    return { value: Buffer.from(valueIn(data, set.dataLength)), verdict: undefined };
  if (data.has(DATA.VALUE)) throw new Refusal(E.EINVAL);
  return { value: undefined, verdict: verdictIn(set.table, data) };
}

function counterIn(set: NftSet, entry: Attributes): Element['counter'] {
  const name = entry.text(ELEMENT.OBJREF);
  if (name === undefined) return undefined;
  const counter = set.table.counters.get(name);
  if (!counter) throw new Refusal(E.ENOENT);
  return counter;
}

function expressionsIn(entry: Attributes): Element['expressions'] {
  for (const type of [ELEMENT.EXPRESSIONS, ELEMENT.EXPR]) {
    const bytes = entry.value(type);
    if (bytes) return { type, bytes: Buffer.from(bytes) };
  }
  return undefined;
}

function add(
  context: Context,
  transaction: Transaction,
  set: NftSet,
  element: Element,
  request: number,
): void {
  const present = set.elements.get(element.id);
  if (present && present.expires > transaction.now) {
    if (!isSame(present, element) || (request & NLM_F.EXCL) !== 0) throw new Refusal(E.EEXIST);
    if (context.release >= FIRST_WITH_TIMEOUT_UPDATES && isFlagged(set, SET_FLAG.TIMEOUT))
      updateTimeout(transaction, set, present, element);
    return;
  }
  const target = element.verdict?.chain;
  if (target) {
    for (const { chain, isMapped } of set.bindings) if (isMapped) lookForCircle(context, chain, target);
    lookLater(set.table);
  }
  if (set.size !== 0 && sizeOf(set) >= set.size && element.id !== '') {
    collectExpired(set, transaction.now);
    if (sizeOf(set) >= set.size) throw new Refusal(E.ENFILE);
  }
  put(transaction, set, element, MSG.NEWSETELEM);
}

function isSame(present: Element, { value, verdict, counter }: Element): boolean {
  const isSameValue = value ? (present.value?.equals(value) ?? false) : present.value === undefined;
  const { verdict: its } = present;
  return (
    isSameValue && its?.code === verdict?.code && its?.chain === verdict?.chain && present.counter === counter
  );
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
  transaction.did(set.table, MSG.NEWSETELEM, { set, element: present }, () => Object.assign(present, former));
}

function put(transaction: Transaction, set: NftSet, element: Element, message: number): void {
  const { elements, targets } = set;
  const former = elements.get(element.id);
  elements.set(element.id, element);
  const target = element.verdict?.chain;
  const { counter } = element;
  if (target) {
    transaction.jumpTo(target);
    targets.set(target, (targets.get(target) ?? 0) + 1);
  }
  if (counter) counter.uses++;
  transaction.did(set.table, message, { set, element } satisfies ElementNotice, () => {
    if (former) elements.set(element.id, former);
    else elements.delete(element.id);
    if (target) drop(targets, target);
    if (counter) counter.uses--;
  });
}

function remove(transaction: Transaction, set: NftSet, element: Element): void {
  const { elements, targets } = set;
  elements.delete(element.id);
  const target = element.verdict?.chain;
  const { counter } = element;
  if (target) {
    transaction.noJumpTo(target);
    transaction.held.add(target);
    drop(targets, target);
  }
  if (counter) counter.uses--;
  transaction.did(set.table, MSG.DELSETELEM, { set, element } satisfies ElementNotice, () => {
    elements.set(element.id, element);
    if (target) targets.set(target, (targets.get(target) ?? 0) + 1);
    if (counter) counter.uses++;
  });
}

function drop<T>(counts: Map<T, number>, counted: T): void {
  const left = counts.get(counted)! - 1;
  if (left === 0) counts.delete(counted);
  else counts.set(counted, left);
}
