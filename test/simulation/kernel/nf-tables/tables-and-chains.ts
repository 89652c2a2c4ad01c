import { Refusal, type Attributes } from '../netlink/attributes.js';
import { E, NLM_F } from '../netlink/numbers.js';
import { RuleReading } from './expressions.js';
import * as nf from './numbers.js';
import {
  byHandle,
  isFlagged,
  named,
  newTable,
  present,
  tableId,
  tableOf,
  type BaseChain,
  type Chain,
  type Context,
  type Counter,
  type Expression,
  type Message,
  type Rule,
  type Table,
} from './objects.js';
import { lookLater } from './reach.js';
import type { Transaction } from './transaction.js';

export function addTable(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, family } = message;
  const name = attributes.text(nf.TABLE.NAME);
  if (name === undefined) throw new Refusal(E.EINVAL);
  const id = tableId(family, name);
  const found = present(context.tables, id, message, nf.TABLE.NAME);
  // Tables that are switched off are not here.
  if ((attributes.be32(nf.TABLE.FLAGS) ?? 0) !== 0) throw new Refusal(E.EOPNOTSUPP);
  if (found) return;
  const table: Table = {
    ...newTable(family, name),
    handle: ++context.lastTableHandle,
    userdata: attributes.copy(nf.TABLE.USERDATA, nf.MAX_USERDATA_LENGTH),
    validation: transaction.isWary ? 'each time' : 'skip',
  };
  context.tables.set(id, table);
  transaction.did(table, nf.MSG.NEWTABLE, table, () => context.tables.delete(id));
}

/** Deletes one table with all that is in it; without a name, all of a family, or of all. */
export function deleteTable(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, family } = message;
  const { tables } = context;
  const name = attributes.text(nf.TABLE.NAME);
  const meant = [...tables.values()].filter(
    (table) => (family === nf.FAMILY.ANY || table.family === family) && table.name === (name ?? table.name),
  );
  if (family !== nf.FAMILY.ANY && name !== undefined && meant.length === 0)
    throw new Refusal(E.ENOENT, attributes.at(nf.TABLE.NAME));
  for (const table of meant)
    transaction.takeOut(table, nf.MSG.DELTABLE, tables, tableId(table.family, table.name));
}

/** NF_IP_PRI_CONNTRACK: chains of type nat come after it. */
const CONNTRACK_PRIORITY = -200;
/** Where chains of a type may be, in families of IP. */
const HOOKS = new Map([
  ['filter', [0, 1, 2, 3, 4]],
  ['nat', [0, 1, 3, 4]],
  ['route', [3]],
]);
const IP_FAMILIES: readonly number[] = [nf.FAMILY.IP, nf.FAMILY.IP6, nf.FAMILY.INET];

export function addChain(context: Context, transaction: Transaction, message: Message): void {
  const { attributes } = message;
  const table = tableOf(context, message);
  const name = attributes.text(nf.CHAIN.NAME);
  if (name === undefined) throw new Refusal(E.EINVAL);
  const policy = policyIn(attributes, table.chains.get(name));
  if (((attributes.be32(nf.CHAIN.FLAGS) ?? 0) & ~nf.CHAIN_FLAG.BASE) !== 0) throw new Refusal(E.EOPNOTSUPP);
  const found = present(table.chains, name, message, nf.CHAIN.NAME);
  if (found) return updateChain(transaction, found, attributes, policy);
  const base = attributes.has(nf.CHAIN.HOOK)
    ? { ...newHookIn(attributes, table), policy: policy ?? nf.VERDICT_CODE.ACCEPT }
    : undefined;
  const userdata = attributes.copy(nf.CHAIN.USERDATA, nf.MAX_USERDATA_LENGTH);
  const handle = ++table.lastHandle;
  const added: Chain = { table, name, handle, base, userdata, rules: [], jumps: 0 };
  table.chains.set(name, added);
  transaction.did(table, nf.MSG.NEWCHAIN, added, () => table.chains.delete(name));
}

/** A chain goes with its rules, unless something else leads to it. */
export function deleteChain(context: Context, transaction: Transaction, message: Message): void {
  const { attributes } = message;
  const table = tableOf(context, message);
  const chain = named(table.chains, attributes, nf.CHAIN.NAME);
  // The kernel counts before it removes the rules, so those that lead from the chain to itself keep it.
  const { jumps } = chain;
  removeRules(transaction, chain, chain.rules);
  const isHeld = context.release < 602 && transaction.held.has(chain);
  if (jumps > 0 || isHeld) throw new Refusal(E.EBUSY, attributes.at(nf.CHAIN.NAME));
  transaction.takeOut(table, nf.MSG.DELCHAIN, table.chains, chain.name);
}

function policyIn(attributes: Attributes, chain: Chain | undefined): number | undefined {
  const policy = attributes.be32(nf.CHAIN.POLICY);
  if (policy === undefined) return undefined;
  const isBase = chain ? chain.base !== undefined : attributes.has(nf.CHAIN.HOOK);
  if (!isBase) throw new Refusal(E.EOPNOTSUPP, attributes.at(nf.CHAIN.POLICY));
  if (policy !== nf.VERDICT_CODE.DROP && policy !== nf.VERDICT_CODE.ACCEPT) throw new Refusal(E.EINVAL);
  return policy;
}

function hookIn(attributes: Attributes): Pick<BaseChain, 'hook' | 'priority'> {
  const nest = attributes.nested(nf.CHAIN.HOOK)!;
  const [hook, priority] = [nest.be32(nf.HOOK.NUMBER), nest.be32(nf.HOOK.PRIORITY)];
  if (hook === undefined || priority === undefined) throw new Refusal(E.ENOENT, attributes.at(nf.CHAIN.NAME));
  return { hook, priority: priority | 0 };
}

/** Where a new base chain is to be. */
function newHookIn(attributes: Attributes, { family }: Table): Omit<BaseChain, 'policy'> {
  const { hook, priority } = hookIn(attributes);
  if (!IP_FAMILIES.includes(family)) throw new Refusal(E.EOPNOTSUPP);
  const type = attributes.text(nf.CHAIN.TYPE) ?? 'filter';
  const hooks = HOOKS.get(type);
  if (!hooks) throw new Refusal(E.ENOENT, attributes.at(nf.CHAIN.TYPE));
  if (!hooks.includes(hook)) throw new Refusal(E.EOPNOTSUPP);
  if (type === 'nat' && priority <= CONNTRACK_PRIORITY) throw new Refusal(E.EOPNOTSUPP);
  return { type, hook, priority };
}

/** Adding a chain that is there may change its policy, and is a change of its own even if it does not. */
function updateChain(
  transaction: Transaction,
  chain: Chain,
  attributes: Attributes,
  policy: number | undefined,
): void {
  const { base } = chain;
  if (attributes.has(nf.CHAIN.HOOK)) {
    const at = attributes.at(nf.CHAIN.NAME);
    if (!base) throw new Refusal(E.EEXIST, at);
    const { hook, priority } = hookIn(attributes);
    if (hook !== base.hook || priority !== base.priority) throw new Refusal(E.EOPNOTSUPP);
    if ((attributes.text(nf.CHAIN.TYPE) ?? base.type) !== base.type) throw new Refusal(E.EEXIST, at);
  }
  if (base && policy !== undefined) chain.base = { ...base, policy };
  transaction.did(chain.table, nf.MSG.NEWCHAIN, chain, () => (chain.base = base));
}

export function addRule(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, request } = message;
  const table = tableOf(context, message);
  const chain = named(table.chains, attributes, nf.RULE.CHAIN);
  if (!request.has(NLM_F.CREATE) || request.has(NLM_F.REPLACE) || attributes.has(nf.RULE.POSITION))
    throw new Refusal(E.EINVAL);
  const handle = ++table.lastHandle;
  const { place } = transaction;
  let rule: Rule;
  try {
    const reading = new RuleReading(context, transaction, chain);
    const read = reading.read(request.bytes, attributes.at(nf.RULE.EXPRESSIONS));
    rule = { chain, handle, ...read, userdata: attributes.copy(nf.RULE.USERDATA, nf.MAX_USERDATA_LENGTH) };
  } catch (error) {
    transaction.backTo(place);
    throw error;
  }
  const former = chain.rules;
  chain.rules = request.has(NLM_F.APPEND) ? [...former, rule] : [rule, ...former];
  transaction.did(table, nf.MSG.NEWRULE, rule, () => (chain.rules = former));
  if (rule.expressions.some(({ target, set, isAllowedIn }) => target ?? set ?? isAllowedIn)) lookLater(table);
}

/** Deletes one rule, all of a chain, or all of the table. */
export function deleteRules(context: Context, transaction: Transaction, message: Message): void {
  const { attributes } = message;
  const table = tableOf(context, message);
  if (!attributes.has(nf.RULE.CHAIN)) {
    for (const chain of table.chains.values()) removeRules(transaction, chain, chain.rules);
    return;
  }
  const chain = named(table.chains, attributes, nf.RULE.CHAIN);
  const rules = attributes.has(nf.RULE.HANDLE)
    ? [byHandle(chain.rules, attributes, nf.RULE.HANDLE)]
    : chain.rules;
  removeRules(transaction, chain, rules);
}

/** Takes rules out of their chain, and lets go of what they use. */
function removeRules(transaction: Transaction, chain: Chain, rules: readonly Rule[]): void {
  if (rules.length === 0) return;
  const former = chain.rules;
  const gone = new Set(rules);
  chain.rules = former.filter((rule) => !gone.has(rule));
  for (const rule of rules) {
    transaction.did(chain.table, nf.MSG.DELRULE, rule, () => (chain.rules = former));
    for (const expression of rule.expressions) letGo(transaction, rule, expression);
  }
}

function letGo(transaction: Transaction, { chain }: Rule, expression: Expression): void {
  const { target, set, counter, binding } = expression;
  if (target) transaction.jumpTo(target, -1);
  if (counter) transaction.use(counter, -1);
  if (!set || !binding) return;
  transaction.unbind(set, binding);
  if (!isFlagged(set, nf.SET_FLAG.ANONYMOUS)) return;
  transaction.noJumpsOf(set);
  transaction.takeOut(chain.table, nf.MSG.DELSET, chain.table.sets, set.name);
}

/** Named objects, of which only counters are known here. */
export function addCounter(context: Context, transaction: Transaction, message: Message): void {
  const { attributes } = message;
  if (![nf.OBJECT.TYPE, nf.OBJECT.NAME, nf.OBJECT.DATA].every((type) => attributes.has(type)))
    throw new Refusal(E.EINVAL);
  const table = tableOf(context, message);
  const name = attributes.text(nf.OBJECT.NAME)!;
  if (attributes.be32(nf.OBJECT.TYPE) !== nf.OBJECT_COUNTER) throw new Refusal(E.EOPNOTSUPP);
  if (present(table.counters, name, message, nf.OBJECT.NAME)) return;
  const userdata = attributes.copy(nf.OBJECT.USERDATA, nf.MAX_USERDATA_LENGTH);
  const counter: Counter = { table, name, handle: ++table.lastHandle, userdata, uses: 0 };
  table.counters.set(name, counter);
  transaction.did(table, nf.MSG.NEWOBJ, counter, () => table.counters.delete(name));
}

export function deleteCounter(context: Context, transaction: Transaction, message: Message): void {
  const { attributes } = message;
  const table = tableOf(context, message);
  const counter = named(table.counters, attributes, nf.OBJECT.NAME);
  if (!attributes.has(nf.OBJECT.TYPE)) throw new Refusal(E.EINVAL);
  if (counter.uses > 0) throw new Refusal(E.EBUSY, attributes.at(nf.OBJECT.NAME));
  transaction.takeOut(table, nf.MSG.DELOBJ, table.counters, counter.name);
}
