import { E, NLM_F } from '../../netlink/numbers.js';
import { Refusal } from '../../netlink/attributes.js';
import { byHandle, tableOf, type Context, type Message } from '../context.js';
import { FAMILY, MAX_USERDATA_LENGTH, MSG, TABLE, TABLE_FLAG } from '../numbers.js';
import { tableId, type Table } from '../objects.js';
import type { Transaction } from './transaction.js';

const ALL_FLAGS = TABLE_FLAG.DORMANT | TABLE_FLAG.OWNER | TABLE_FLAG.PERSIST;

export function newTable(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, flags: request, family } = message;
  const name = attributes.text(TABLE.NAME);
  if (name === undefined) throw new Refusal(E.EINVAL);
  const flags = attributes.be32(TABLE.FLAGS);
  const id = tableId(family, name);
  if (context.tables.has(id)) {
    const table = tableOf(context, message, TABLE.NAME, transaction.port);
    if ((request & NLM_F.EXCL) !== 0) throw new Refusal(E.EEXIST, attributes.at(TABLE.NAME));
    if ((request & NLM_F.REPLACE) !== 0) throw new Refusal(E.EOPNOTSUPP);
    return changeFlags(transaction, table, flags);
  }
  if (((flags ?? 0) & ~ALL_FLAGS) !== 0) throw new Refusal(E.EOPNOTSUPP);
  const table: Table = {
    family,
    name,
    handle: ++context.lastTableHandle,
    flags: flags ?? 0,
    owner: ((flags ?? 0) & TABLE_FLAG.OWNER) === 0 ? undefined : transaction.port,
    userdata: attributes.copy(TABLE.USERDATA, MAX_USERDATA_LENGTH),
    chains: new Map(),
    sets: new Map(),
    counters: new Map(),
    lastHandle: 0,
    changedAt: 0,
    validation: transaction.isWary ? 'each time' : 'skip',
  };
  context.tables.set(id, table);
  transaction.did(table, MSG.NEWTABLE, table, () => context.tables.delete(id));
}

/** Deletes one table with all that is in it; without a name, all of a family, or of all. */
export function deleteTable(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, family, flags, kind } = message;
  const isNamed = attributes.has(TABLE.NAME) || attributes.has(TABLE.HANDLE);
  if (family === FAMILY.ANY || !isNamed) return deleteTables(context, transaction, message);
  const table = attributes.has(TABLE.HANDLE)
    ? byHandle(
        [...context.tables.values()].filter((one) => one.family === family),
        attributes.be64(TABLE.HANDLE),
      )
    : context.tables.get(tableId(family, attributes.text(TABLE.NAME)!));
  if (!table) {
    if (kind === MSG.DESTROYTABLE) return;
    throw new Refusal(E.ENOENT, attributes.at(TABLE.HANDLE) ?? attributes.at(TABLE.NAME));
  }
  if (table.owner !== undefined && table.owner !== transaction.port)
    throw new Refusal(E.EPERM, attributes.at(TABLE.NAME));
  const isEmpty = table.chains.size + table.sets.size + table.counters.size === 0;
  if ((flags & NLM_F.NONREC) !== 0 && !isEmpty) throw new Refusal(E.EBUSY);
  remove(context, transaction, table);
}

function deleteTables(context: Context, transaction: Transaction, { attributes, family }: Message): void {
  const name = attributes.text(TABLE.NAME);
  for (const table of [...context.tables.values()]) {
    if (family !== FAMILY.ANY && table.family !== family) continue;
    if (table.owner !== undefined && table.owner !== transaction.port) continue;
    if (name === undefined || table.name === name) remove(context, transaction, table);
  }
}

function remove({ tables }: Context, transaction: Transaction, table: Table): void {
  transaction.takeOut(table, MSG.DELTABLE, tables, tableId(table.family, table.name));
}

function changeFlags(transaction: Transaction, table: Table, flags: number | undefined): void {
  if (flags === undefined || flags === table.flags) return;
  const former = table.flags;
  const isOther = (flag: number): boolean => ((flags ^ former) & flag) !== 0;
  if ((flags & ~ALL_FLAGS) !== 0 || isOther(TABLE_FLAG.OWNER) || isOther(TABLE_FLAG.PERSIST))
    throw new Refusal(E.EOPNOTSUPP);
  if (transaction.switched.has(table) || transaction.rehooked.has(table)) throw new Refusal(E.EINVAL);
  transaction.switched.add(table);
  table.flags = flags;
  transaction.did(table, MSG.NEWTABLE, table, () => (table.flags = former));
}
