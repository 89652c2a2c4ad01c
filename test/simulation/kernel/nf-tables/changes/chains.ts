import { E, NLM_F } from '../../netlink/numbers.js';
import { Refusal, type Attributes } from '../../netlink/attributes.js';
import { byHandle, tableOf, type Context, type Message } from '../context.js';
import { CHAIN, CHAIN_FLAG, FAMILY, HOOK, MAX_USERDATA_LENGTH, MSG, VERDICT_CODE } from '../numbers.js';
import type { BaseChain, Chain, Table } from '../objects.js';
import { removeRules } from './rules.js';
import type { Transaction } from './transaction.js';

const ALL_FLAGS = CHAIN_FLAG.BASE | CHAIN_FLAG.HW_OFFLOAD | CHAIN_FLAG.BINDING;
/** NF_IP_PRI_CONNTRACK: chains of type nat come after it. */
const CONNTRACK_PRIORITY = -200;
const ALL_IP_HOOKS = [0, 1, 2, 3, 4];
/** Where chains of a type may be, by family. Of inet the hook ingress is left out. */
const HOOKS: Readonly<Record<number, Readonly<Record<string, readonly number[]>>>> = {
  [FAMILY.IP]: { filter: ALL_IP_HOOKS, nat: [0, 1, 3, 4], route: [3] },
  [FAMILY.IP6]: { filter: ALL_IP_HOOKS, nat: [0, 1, 3, 4], route: [3] },
  [FAMILY.INET]: { filter: ALL_IP_HOOKS, nat: [0, 1, 3, 4], route: [3] },
  [FAMILY.BRIDGE]: { filter: ALL_IP_HOOKS },
  [FAMILY.ARP]: { filter: [0, 1] },
  [FAMILY.NETDEV]: { filter: [0, 1] },
};

export function newChain(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, flags: request } = message;
  const table = tableOf(context, message, CHAIN.TABLE, transaction.port);
  const chain = namedChain(table, attributes);
  const policy = policyIn(attributes, chain);
  const its = chain?.base ? CHAIN_FLAG.BASE : 0;
  const flags = (attributes.be32(CHAIN.FLAGS) ?? 0) | its;
  if ((flags & ~ALL_FLAGS) !== 0) throw new Refusal(E.EOPNOTSUPP);
  if (!chain) return add(transaction, table, attributes, flags, policy);
  const at = attributes.at(CHAIN.HANDLE) ?? attributes.at(CHAIN.NAME);
  if ((request & NLM_F.EXCL) !== 0) throw new Refusal(E.EEXIST, at);
  if ((request & NLM_F.REPLACE) !== 0 || flags !== its) throw new Refusal(E.EOPNOTSUPP);
  update(transaction, chain, attributes, policy, at);
}

/** A chain goes with its rules, unless something else leads to it. */
export function deleteChain(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, flags, kind } = message;
  const table = tableOf(context, message, CHAIN.TABLE, transaction.port);
  const attribute = attributes.has(CHAIN.HANDLE) ? CHAIN.HANDLE : CHAIN.NAME;
  const at = attributes.at(attribute);
  if (at === undefined) throw new Refusal(E.EINVAL);
  const chain =
    attribute === CHAIN.HANDLE
      ? byHandle(table.chains.values(), attributes.be64(CHAIN.HANDLE))
      : table.chains.get(attributes.text(CHAIN.NAME)!);
  if (!chain) {
    if (kind === MSG.DESTROYCHAIN) return;
    throw new Refusal(E.ENOENT, at);
  }
  if ((flags & NLM_F.NONREC) !== 0 && chain.rules.length + chain.jumps > 0) throw new Refusal(E.EBUSY);
  // The kernel counts before it removes the rules, so those that lead from the chain to itself keep it.
  const { jumps } = chain;
  removeRules(transaction, chain, chain.rules);
  const isHeld = context.release < 602 && transaction.held.has(chain);
  if (jumps > 0 || isHeld) throw new Refusal(E.EBUSY, at);
  if (chain.base) transaction.rehooked.add(table);
  transaction.takeOut(table, MSG.DELCHAIN, table.chains, chain.name);
}

/** The one that a message names, if there is one. */
function namedChain(table: Table, attributes: Attributes): Chain | undefined {
  if (attributes.has(CHAIN.HANDLE)) {
    const chain = byHandle(table.chains.values(), attributes.be64(CHAIN.HANDLE));
    if (!chain) throw new Refusal(E.ENOENT, attributes.at(CHAIN.HANDLE));
    return chain;
  }
  const name = attributes.text(CHAIN.NAME);
  if (name === undefined) throw new Refusal(E.EINVAL);
  return table.chains.get(name);
}

function policyIn(attributes: Attributes, chain: Chain | undefined): number | undefined {
  const policy = attributes.be32(CHAIN.POLICY);
  if (policy === undefined) return undefined;
  const isBase = chain ? chain.base !== undefined : attributes.has(CHAIN.HOOK);
  if (!isBase) throw new Refusal(E.EOPNOTSUPP, attributes.at(CHAIN.POLICY));
  if (policy !== VERDICT_CODE.DROP && policy !== VERDICT_CODE.ACCEPT) throw new Refusal(E.EINVAL);
  return policy;
}

function add(
  transaction: Transaction,
  table: Table,
  attributes: Attributes,
  flags: number,
  policy: number = VERDICT_CODE.ACCEPT,
): void {
  const name = attributes.text(CHAIN.NAME);
  const isBase = attributes.has(CHAIN.HOOK);
  if (!isBase && (flags & CHAIN_FLAG.BASE) !== 0) throw new Refusal(E.EINVAL);
  if ((flags & (CHAIN_FLAG.BINDING | CHAIN_FLAG.HW_OFFLOAD)) !== 0) throw new Refusal(E.EOPNOTSUPP);
  if (isBase && transaction.switched.has(table)) throw new Refusal(E.EINVAL);
  const base = isBase ? { ...hookIn(attributes, table), policy } : undefined;
  if (name === undefined) throw new Refusal(E.EINVAL);
  const userdata = attributes.copy(CHAIN.USERDATA, MAX_USERDATA_LENGTH);
  const chain: Chain = { table, name, handle: ++table.lastHandle, base, userdata, rules: [], jumps: 0 };
  table.chains.set(name, chain);
  transaction.did(table, MSG.NEWCHAIN, chain, () => table.chains.delete(name));
}

/** Where a new base chain is to be. */
function hookIn(attributes: Attributes, { family }: Table): Omit<BaseChain, 'policy'> {
  const nest = attributes.nested(CHAIN.HOOK)!;
  const [hook, priority] = [nest.be32(HOOK.NUMBER), nest.be32(HOOK.PRIORITY)];
  if (hook === undefined || priority === undefined) throw new Refusal(E.ENOENT, attributes.at(CHAIN.NAME));
  const types = HOOKS[family];
  if (!types) throw new Refusal(E.EOPNOTSUPP);
  const type = attributes.text(CHAIN.TYPE) ?? 'filter';
  const hooks = Object.hasOwn(types, type) ? types[type]! : undefined;
  if (!hooks) throw new Refusal(E.ENOENT, attributes.at(CHAIN.TYPE));
  if (!hooks.includes(hook)) throw new Refusal(E.EOPNOTSUPP);
  if (type === 'nat' && (priority | 0) <= CONNTRACK_PRIORITY) throw new Refusal(E.EOPNOTSUPP);
  return { type, hook, priority: priority | 0 };
}

/** Adding a chain that is there may change its policy, and is a change of its own even if it does not. */
function update(
  transaction: Transaction,
  chain: Chain,
  attributes: Attributes,
  policy: number | undefined,
  at: number | undefined,
): void {
  const { base, table } = chain;
  if (attributes.has(CHAIN.HOOK)) {
    if (!base) throw new Refusal(E.EEXIST, at);
    const nest = attributes.nested(CHAIN.HOOK)!;
    const [hook, priority] = [nest.be32(HOOK.NUMBER), nest.be32(HOOK.PRIORITY)];
    const isOther = (given: number | undefined, its: number): boolean =>
      given !== undefined && (given | 0) !== its;
    if (isOther(hook, base.hook) || isOther(priority, base.priority)) throw new Refusal(E.EOPNOTSUPP);
    const type = attributes.text(CHAIN.TYPE) ?? base.type;
    if (!Object.hasOwn(HOOKS[table.family] ?? {}, type))
      throw new Refusal(E.ENOENT, attributes.at(CHAIN.TYPE));
    if (type !== base.type || isOther(hook ?? 0, base.hook) || isOther(priority ?? 0, base.priority))
      throw new Refusal(E.EEXIST, at);
  }
  transaction.rehooked.add(table);
  if (base && policy !== undefined) chain.base = { ...base, policy };
  transaction.did(table, MSG.NEWCHAIN, chain, () => (chain.base = base));
}
