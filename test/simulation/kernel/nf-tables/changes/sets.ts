import { E, NLM_F } from '../../netlink/numbers.js';
import { attributesOf, Refusal, within, type Attributes } from '../../netlink/attributes.js';
import { byHandle, tableOf, type Context, type Message } from '../context.js';
import {
  DATA_VERDICT,
  DESC,
  FIELD_LEN,
  MAX_USERDATA_LENGTH,
  MAX_VALUE_LENGTH,
  MSG,
  SET,
  SET_FLAG,
  VERDICT_LENGTH,
} from '../numbers.js';
import { isFlagged, type NftSet, type Table } from '../objects.js';
import type { Transaction } from './transaction.js';

const ALL_FLAGS = Object.values(SET_FLAG).reduce((all, flag) => all | flag, 0);
const { ANONYMOUS, CONSTANT, INTERVAL, MAP, TIMEOUT, EVAL, OBJECT, CONCAT } = SET_FLAG;
/** Flags that exclude each other. */
const EXCLUSIVE = [MAP | OBJECT, EVAL | OBJECT, CONSTANT | TIMEOUT, INTERVAL | EVAL];
const RESERVED_TYPE = 0xffff_ff00;
const MOST_FIELDS_LENGTH = 64;

type Layout = Pick<
  NftSet,
  | 'flags'
  | 'keyType'
  | 'keyLength'
  | 'dataType'
  | 'dataLength'
  | 'objectType'
  | 'timeout'
  | 'gcInterval'
  | 'policy'
  | 'size'
  | 'fields'
  | 'expressions'
>;

export function newSet(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, flags: request } = message;
  for (const needed of [SET.TABLE, SET.NAME, SET.KEY_LEN, SET.ID])
    if (!attributes.has(needed)) throw new Refusal(E.EINVAL);
  const layout = layoutIn(attributes);
  const table = tableOf(context, message, SET.TABLE, transaction.port);
  const name = attributes.text(SET.NAME)!;
  const id = attributes.be32(SET.ID)!;
  const present = table.sets.get(name);
  if (present) {
    const at = attributes.at(SET.NAME);
    if ((request & NLM_F.EXCL) !== 0) throw new Refusal(E.EEXIST, at);
    if ((request & NLM_F.REPLACE) !== 0 || isFlagged(present, ANONYMOUS)) throw new Refusal(E.EOPNOTSUPP);
    return update(context, transaction, present, layout, at);
  }
  if ((request & NLM_F.CREATE) === 0) throw new Refusal(E.ENOENT);
  if (EXCLUSIVE.some((both) => (layout.flags & both) === both)) throw new Refusal(E.EOPNOTSUPP);
  const set: NftSet = {
    ...layout,
    growsWithRules:
      (layout.flags & INTERVAL) === 0 && (layout.size === 0 || (layout.flags & (EVAL | TIMEOUT)) !== 0),
    table,
    name: numbered(table, name),
    handle: ++table.lastHandle,
    userdata: attributes.copy(SET.USERDATA, MAX_USERDATA_LENGTH),
    elements: new Map(),
    bindings: new Set(),
    targets: new Map(),
  };
  table.sets.set(set.name, set);
  transaction.sets.set(id, set);
  if (isFlagged(set, ANONYMOUS)) transaction.unbound.add(set);
  transaction.did(table, MSG.NEWSET, set, () => table.sets.delete(set.name));
}

export function deleteSet(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, flags, kind } = message;
  const table = tableOf(context, message, SET.TABLE, transaction.port);
  const attribute = attributes.has(SET.HANDLE) ? SET.HANDLE : SET.NAME;
  const at = attributes.at(attribute);
  if (at === undefined) throw new Refusal(E.EINVAL);
  const set =
    attribute === SET.HANDLE
      ? byHandle(table.sets.values(), attributes.be64(SET.HANDLE))
      : table.sets.get(attributes.text(SET.NAME)!);
  if (!set) {
    if (kind === MSG.DESTROYSET) return;
    throw new Refusal(E.ENOENT, at);
  }
  const mustBeEmpty = (flags & NLM_F.NONREC) !== 0;
  if (set.bindings.size > 0 || (mustBeEmpty && set.elements.size > 0)) throw new Refusal(E.EBUSY, at);
  transaction.unbound.delete(set);
  transaction.noJumpsOf(set);
  transaction.takeOut(table, MSG.DELSET, table.sets, set.name);
}

function layoutIn(attributes: Attributes): Layout {
  const keyType = attributes.be32(SET.KEY_TYPE) ?? 0;
  const keyLength = attributes.be32(SET.KEY_LEN)!;
  const flags = attributes.be32(SET.FLAGS) ?? 0;
  if ((keyType & RESERVED_TYPE) >>> 0 === RESERVED_TYPE || !isLength(keyLength)) throw new Refusal(E.EINVAL);
  if ((flags & ~ALL_FLAGS) !== 0) throw new Refusal(E.EOPNOTSUPP);
  if (EXCLUSIVE.slice(0, -1).some((both) => (flags & both) === both)) throw new Refusal(E.EOPNOTSUPP);
  if ((flags & (ANONYMOUS | TIMEOUT | EVAL)) === (ANONYMOUS | TIMEOUT)) throw new Refusal(E.EOPNOTSUPP);
  const data = dataIn(attributes, flags);
  const objectType = attributes.be32(SET.OBJ_TYPE);
  if ((objectType !== undefined) !== ((flags & OBJECT) !== 0)) throw new Refusal(E.EINVAL);
  const hasTimeout = (flags & TIMEOUT) !== 0;
  if (!hasTimeout && (attributes.has(SET.TIMEOUT) || attributes.has(SET.GC_INTERVAL)))
    throw new Refusal(E.EINVAL);
  return {
    flags,
    keyType,
    keyLength,
    ...data,
    objectType: objectType ?? 0,
    timeout: attributes.be64(SET.TIMEOUT) ?? 0,
    gcInterval: attributes.be32(SET.GC_INTERVAL) ?? 0,
    policy: attributes.be32(SET.POLICY) ?? 0,
    ...descriptionIn(attributes, flags),
    expressions: expressionsIn(attributes),
  };
}

function dataIn(attributes: Attributes, flags: number): Pick<Layout, 'dataType' | 'dataLength'> {
  const isMap = (flags & MAP) !== 0;
  const dataType = attributes.be32(SET.DATA_TYPE);
  if ((dataType !== undefined) !== isMap) throw new Refusal(E.EINVAL);
  if (dataType === undefined) return { dataType: 0, dataLength: 0 };
  if (dataType === DATA_VERDICT) return { dataType, dataLength: VERDICT_LENGTH };
  const dataLength = attributes.be32(SET.DATA_LEN);
  if ((dataType & RESERVED_TYPE) >>> 0 === RESERVED_TYPE || !isLength(dataLength))
    throw new Refusal(E.EINVAL);
  return { dataType, dataLength };
}

function isLength(length: number | undefined): length is number {
  return length !== undefined && length > 0 && length <= MAX_VALUE_LENGTH;
}

function descriptionIn(attributes: Attributes, flags: number): Pick<Layout, 'size' | 'fields'> {
  const description = attributes.nested(SET.DESC);
  const list = description?.at(DESC.CONCAT);
  const fields = (list === undefined ? [] : [...within(attributes.bytes, list)]).map((at) => {
    const length = attributesOf(attributes.bytes, at).be32(FIELD_LEN);
    if (!isLength(length)) throw new Refusal(E.EINVAL);
    return length;
  });
  const total = fields.reduce((sum, length) => sum + ((length + 3) & ~3), 0);
  if (total > MOST_FIELDS_LENGTH) throw new Refusal(E.E2BIG);
  if (fields.length > 1 !== ((flags & CONCAT) !== 0)) throw new Refusal(E.EINVAL);
  return { size: description?.be32(DESC.SIZE) ?? 0, fields };
}

function expressionsIn(attributes: Attributes): Layout['expressions'] {
  for (const type of [SET.EXPRESSIONS, SET.EXPR]) {
    const bytes = attributes.value(type);
    if (bytes) return { type, bytes: Buffer.from(bytes) };
  }
  return undefined;
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
  const compared = ['flags', 'keyType', 'keyLength', 'dataType', 'dataLength', 'objectType'] as const;
  const isSame =
    compared.every((part) => set[part] === layout[part]) &&
    set.fields.join() === layout.fields.join() &&
    (set.expressions !== undefined) === (layout.expressions !== undefined);
  if (!isSame) throw new Refusal(E.EEXIST, at);
  if (release < 605) return;
  transaction.did(set.table, MSG.NEWSET, set, () => undefined);
  transaction.later(() => {
    set.timeout = layout.timeout;
    if (layout.size !== 0) set.size = layout.size;
  });
}

/** The name with the lowest free number in place of `%d`. */
function numbered(table: Table, name: string): string {
  const at = name.indexOf('%');
  if (at < 0) return name;
  if (name[at + 1] !== 'd' || name.includes('%', at + 2)) throw new Refusal(E.EINVAL);
  for (let number = 0; ; number++) {
    const candidate = name.slice(0, at) + String(number) + name.slice(at + 2);
    if (!table.sets.has(candidate)) return candidate;
    if (number > 0xffff) throw new Refusal(E.ENFILE);
  }
}
