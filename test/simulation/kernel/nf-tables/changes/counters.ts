import { E, NLM_F } from '../../netlink/numbers.js';
import { Refusal } from '../../netlink/attributes.js';
import { byHandle, tableOf, type Context, type Message } from '../context.js';
import { COUNTER, MAX_USERDATA_LENGTH, MSG, OBJECT, OBJECT_COUNTER } from '../numbers.js';
import type { Counter } from '../objects.js';
import type { Transaction } from './transaction.js';

/* Named objects, of which only counters are known here. */

export function newCounter(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, flags } = message;
  if (!attributes.has(OBJECT.TYPE) || !attributes.has(OBJECT.NAME) || !attributes.has(OBJECT.DATA))
    throw new Refusal(E.EINVAL);
  const table = tableOf(context, message, OBJECT.TABLE, transaction.port);
  const name = attributes.text(OBJECT.NAME)!;
  if (attributes.be32(OBJECT.TYPE) !== OBJECT_COUNTER) throw new Refusal(E.EOPNOTSUPP);
  if (table.counters.has(name)) {
    if ((flags & NLM_F.EXCL) !== 0) throw new Refusal(E.EEXIST, attributes.at(OBJECT.NAME));
    if ((flags & NLM_F.REPLACE) !== 0) throw new Refusal(E.EOPNOTSUPP);
    return;
  }
  const data = attributes.nested(OBJECT.DATA)!;
  const counter: Counter = {
    table,
    name,
    handle: ++table.lastHandle,
    userdata: attributes.copy(OBJECT.USERDATA, MAX_USERDATA_LENGTH),
    bytes: data.be64(COUNTER.BYTES) ?? 0,
    packets: data.be64(COUNTER.PACKETS) ?? 0,
    uses: 0,
  };
  table.counters.set(name, counter);
  transaction.did(table, MSG.NEWOBJ, counter, () => table.counters.delete(name));
}

export function deleteCounter(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, kind } = message;
  if (!attributes.has(OBJECT.TYPE) || (!attributes.has(OBJECT.NAME) && !attributes.has(OBJECT.HANDLE)))
    throw new Refusal(E.EINVAL);
  const table = tableOf(context, message, OBJECT.TABLE, transaction.port);
  const attribute = attributes.has(OBJECT.HANDLE) ? OBJECT.HANDLE : OBJECT.NAME;
  const at = attributes.at(attribute);
  const counter =
    attribute === OBJECT.HANDLE
      ? byHandle(table.counters.values(), attributes.be64(OBJECT.HANDLE))
      : table.counters.get(attributes.text(OBJECT.NAME)!);
  if (!counter) {
    if (kind === MSG.DESTROYOBJ) return;
    throw new Refusal(E.ENOENT, at);
  }
  if (counter.uses > 0) throw new Refusal(E.EBUSY, at);
  transaction.takeOut(table, MSG.DELOBJ, table.counters, counter.name);
}
