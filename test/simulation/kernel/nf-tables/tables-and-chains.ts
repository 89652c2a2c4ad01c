import { Refusal, type Attributes } from '../netlink/attributes.js';
import { E, NLM_F } from '../netlink/numbers.js';
import {
  CHAIN,
  CHAIN_FLAG,
  FAMILY,
  HOOK,
  MAX_USERDATA_LENGTH,
  MSG,
  OBJECT,
  OBJECT_COUNTER,
  TABLE,
  TABLE_FLAG,
  VERDICT_CODE,
} from './numbers.js';
import {
  byHandle,
  newTable,
  tableId,
  tableOf,
  type BaseChain,
  type Chain,
  type Context,
  type Counter,
  type Message,
  type Table,
} from './objects.js';
import { removeRules } from './rules.js';
import type { Transaction } from './transaction.js';

export function addTable(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, request, family } = message;
  const name = attributes.text(TABLE.NAME);
  if (name === undefined) throw new Refusal(E.EINVAL);
  const flags = attributes.be32(TABLE.FLAGS);
  const id = tableId(family, name);
  const present = context.tables.get(id);
  if (present) {
    if (request.has(NLM_F.EXCL)) throw new Refusal(E.EEXIST, attributes.at(TABLE.NAME));
    if (request.has(NLM_F.REPLACE)) throw new Refusal(E.EOPNOTSUPP);
    return switchTable(transaction, present, flags);
  }
  if (((flags ?? 0) & ~TABLE_FLAG.DORMANT) !== 0) throw new Refusal(E.EOPNOTSUPP);
  const table: Table = {
    ...newTable(family, name),
    handle: ++context.lastTableHandle,
    flags: flags ?? 0,
    userdata: attributes.copy(TABLE.USERDATA, MAX_USERDATA_LENGTH),
    validation: transaction.isWary ? 'each time' : 'skip',
  };
  context.tables.set(id, table);
  transaction.did(table, MSG.NEWTABLE, table, () => context.tables.delete(id));
}

/** Switches a table on or off. */
function switchTable(transaction: Transaction, table: Table, flags: number | undefined): void {
  if (flags === undefined || flags === table.flags) return;
  if ((flags & ~TABLE_FLAG.DORMANT) !== 0) throw new Refusal(E.EOPNOTSUPP);
  if (transaction.switched.has(table) || transaction.rehooked.has(table)) throw new Refusal(E.EINVAL);
  transaction.switched.add(table);
  const former = table.flags;
  table.flags = flags;
  transaction.did(table, MSG.NEWTABLE, table, () => (table.flags = former));
}

/** Deletes one table with all that is in it; without a name, all of a family, or of all. */
export function deleteTable(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, family, request, kind } = message;
  const { tables } = context;
  const name = attributes.text(TABLE.NAME);
  const isOne = family !== FAMILY.ANY && name !== undefined;
  const meant = [...tables.values()].filter(
    (table) => (family === FAMILY.ANY || table.family === family) && table.name === (name ?? table.name),
  );
  if (isOne && meant.length === 0 && kind !== MSG.DESTROYTABLE)
    throw new Refusal(E.ENOENT, attributes.at(TABLE.NAME));
  for (const table of meant) {
    const isEmpty = table.chains.size + table.sets.size + table.counters.size === 0;
    if (isOne && request.has(NLM_F.NONREC) && !isEmpty) throw new Refusal(E.EBUSY);
    transaction.takeOut(table, MSG.DELTABLE, tables, tableId(table.family, table.name));
  }
}

const ALL_FLAGS = CHAIN_FLAG.BASE | CHAIN_FLAG.HW_OFFLOAD | CHAIN_FLAG.BINDING;
/** NF_IP_PRI_CONNTRACK: chains of type nat come after it. */
const CONNTRACK_PRIORITY = -200;
/** Where chains of a type may be, in families of IP. */
const HOOKS = new Map([
  ['filter', [0, 1, 2, 3, 4]],
  ['nat', [0, 1, 3, 4]],
  ['route', [3]],
]);
const IP_FAMILIES: readonly number[] = [FAMILY.IP, FAMILY.IP6, FAMILY.INET];

export function addChain(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, request } = message;
  const table = tableOf(context, message);
  const name = attributes.text(CHAIN.NAME);
  const chain = attributes.has(CHAIN.HANDLE)
    ? byHandle(table.chains.values(), attributes, CHAIN.HANDLE)
    : table.chains.get(name ?? '');
  if (!chain && name === undefined) throw new Refusal(E.EINVAL);
  const policy = policyIn(attributes, chain);
  const its = chain?.base ? CHAIN_FLAG.BASE : 0;
  const flags = (attributes.be32(CHAIN.FLAGS) ?? 0) | its;
  if ((flags & ~ALL_FLAGS) !== 0) throw new Refusal(E.EOPNOTSUPP);
  if (chain) {
    const at = attributes.at(CHAIN.HANDLE) ?? attributes.at(CHAIN.NAME);
    if (request.has(NLM_F.EXCL)) throw new Refusal(E.EEXIST, at);
    if (request.has(NLM_F.REPLACE) || flags !== its) throw new Refusal(E.EOPNOTSUPP);
    return updateChain(transaction, chain, attributes, policy, at);
  }
  const isBase = attributes.has(CHAIN.HOOK);
  if (!isBase && (flags & CHAIN_FLAG.BASE) !== 0) throw new Refusal(E.EINVAL);
  if ((flags & ~CHAIN_FLAG.BASE) !== 0) throw new Refusal(E.EOPNOTSUPP);
  if (isBase && transaction.switched.has(table)) throw new Refusal(E.EINVAL);
  const base = isBase ? { ...hookIn(attributes, table), policy: policy ?? VERDICT_CODE.ACCEPT } : undefined;
  const userdata = attributes.copy(CHAIN.USERDATA, MAX_USERDATA_LENGTH);
  const added: Chain = {
    ...{ table, name: name!, handle: ++table.lastHandle, base, userdata, rules: [], jumps: 0 },
  };
  table.chains.set(added.name, added);
  transaction.did(table, MSG.NEWCHAIN, added, () => table.chains.delete(added.name));
}

/** A chain goes with its rules, unless something else leads to it. */
export function deleteChain(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, request, kind } = message;
  const table = tableOf(context, message);
  const attribute = attributes.has(CHAIN.HANDLE) ? CHAIN.HANDLE : CHAIN.NAME;
  const at = attributes.at(attribute);
  if (at === undefined) throw new Refusal(E.EINVAL);
  const handle = attributes.be64(CHAIN.HANDLE);
  const chain =
    handle === undefined
      ? table.chains.get(attributes.text(CHAIN.NAME)!)
      : [...table.chains.values()].find((one) => one.handle === handle);
  if (!chain) {
    if (kind === MSG.DESTROYCHAIN) return;
    throw new Refusal(E.ENOENT, at);
  }
  if (request.has(NLM_F.NONREC) && chain.rules.length + chain.jumps > 0) throw new Refusal(E.EBUSY);
  // The kernel counts before it removes the rules, so those that lead from the chain to itself keep it.
  const { jumps } = chain;
  removeRules(transaction, chain, chain.rules);
  const isHeld = context.release < 602 && transaction.held.has(chain);
  if (jumps > 0 || isHeld) throw new Refusal(E.EBUSY, at);
  if (chain.base) transaction.rehooked.add(table);
  transaction.takeOut(table, MSG.DELCHAIN, table.chains, chain.name);
}

function policyIn(attributes: Attributes, chain: Chain | undefined): number | undefined {
  const policy = attributes.be32(CHAIN.POLICY);
  if (policy === undefined) return undefined;
  const isBase = chain ? chain.base !== undefined : attributes.has(CHAIN.HOOK);
  if (!isBase) throw new Refusal(E.EOPNOTSUPP, attributes.at(CHAIN.POLICY));
  if (policy !== VERDICT_CODE.DROP && policy !== VERDICT_CODE.ACCEPT) throw new Refusal(E.EINVAL);
  return policy;
}

/** Where a new base chain is to be. */
function hookIn(attributes: Attributes, { family }: Table): Omit<BaseChain, 'policy'> {
  const nest = attributes.nested(CHAIN.HOOK)!;
  const [hook, priority] = [nest.be32(HOOK.NUMBER), nest.be32(HOOK.PRIORITY)];
  if (hook === undefined || priority === undefined) throw new Refusal(E.ENOENT, attributes.at(CHAIN.NAME));
  if (!IP_FAMILIES.includes(family)) throw new Refusal(E.EOPNOTSUPP);
  const type = attributes.text(CHAIN.TYPE) ?? 'filter';
  const hooks = HOOKS.get(type);
  if (!hooks) throw new Refusal(E.ENOENT, attributes.at(CHAIN.TYPE));
  if (!hooks.includes(hook)) throw new Refusal(E.EOPNOTSUPP);
  if (type === 'nat' && (priority | 0) <= CONNTRACK_PRIORITY) throw new Refusal(E.EOPNOTSUPP);
  return { type, hook, priority: priority | 0 };
}

/** Adding a chain that is there may change its policy, and is a change of its own even if it does not. */
function updateChain(
  transaction: Transaction,
  chain: Chain,
  attributes: Attributes,
  policy: number | undefined,
  at: number | undefined,
): void {
  const { base, table } = chain;
  const nest = attributes.nested(CHAIN.HOOK);
  if (nest) {
    if (!base) throw new Refusal(E.EEXIST, at);
    const [hook, priority] = [nest.be32(HOOK.NUMBER), nest.be32(HOOK.PRIORITY)];
    const isOther = (given: number | undefined, its: number): boolean =>
      given !== undefined && (given | 0) !== its;
    if (isOther(hook, base.hook) || isOther(priority, base.priority)) throw new Refusal(E.EOPNOTSUPP);
    const type = attributes.text(CHAIN.TYPE) ?? base.type;
    if (!HOOKS.has(type)) throw new Refusal(E.ENOENT, attributes.at(CHAIN.TYPE));
    if (type !== base.type || isOther(hook ?? 0, base.hook) || isOther(priority ?? 0, base.priority))
      throw new Refusal(E.EEXIST, at);
  }
  transaction.rehooked.add(table);
  if (base && policy !== undefined) chain.base = { ...base, policy };
  transaction.did(table, MSG.NEWCHAIN, chain, () => (chain.base = base));
}

/** Named objects, of which only counters are known here. */
export function addCounter(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, request } = message;
  if (![OBJECT.TYPE, OBJECT.NAME, OBJECT.DATA].every((type) => attributes.has(type)))
    throw new Refusal(E.EINVAL);
  const table = tableOf(context, message);
  const name = attributes.text(OBJECT.NAME)!;
  if (attributes.be32(OBJECT.TYPE) !== OBJECT_COUNTER) throw new Refusal(E.EOPNOTSUPP);
  if (table.counters.has(name)) {
    if (request.has(NLM_F.EXCL)) throw new Refusal(E.EEXIST, attributes.at(OBJECT.NAME));
    if (request.has(NLM_F.REPLACE)) throw new Refusal(E.EOPNOTSUPP);
    return;
  }
  const userdata = attributes.copy(OBJECT.USERDATA, MAX_USERDATA_LENGTH);
  const counter: Counter = { table, name, handle: ++table.lastHandle, userdata, uses: 0 };
  table.counters.set(name, counter);
  transaction.did(table, MSG.NEWOBJ, counter, () => table.counters.delete(name));
}

export function deleteCounter(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, kind } = message;
  if (!attributes.has(OBJECT.TYPE) || !attributes.has(OBJECT.NAME)) throw new Refusal(E.EINVAL);
  const table = tableOf(context, message);
  const at = attributes.at(OBJECT.NAME);
  const counter = table.counters.get(attributes.text(OBJECT.NAME)!);
  if (!counter && kind === MSG.DESTROYOBJ) return;
  if (!counter || counter.uses > 0) throw new Refusal(counter ? E.EBUSY : E.ENOENT, at);
  transaction.takeOut(table, MSG.DELOBJ, table.counters, counter.name);
}
