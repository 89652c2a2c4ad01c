import { Refusal } from '../netlink/attributes.js';
import { E, NLM_F } from '../netlink/numbers.js';
import { RuleReading } from './expressions.js';
import { MAX_USERDATA_LENGTH, MSG, RULE, SET_FLAG } from './numbers.js';
import {
  byHandle,
  isFlagged,
  named,
  tableOf,
  type Chain,
  type Context,
  type Expression,
  type Message,
  type Rule,
} from './objects.js';
import { lookLater } from './reach.js';
import type { Transaction } from './transaction.js';

export function addRule(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, request } = message;
  const table = tableOf(context, message);
  const chain = named(table.chains, attributes, RULE.CHAIN);
  if (!request.has(NLM_F.CREATE) || request.has(NLM_F.REPLACE)) throw new Refusal(E.EINVAL);
  const neighbour = attributes.has(RULE.POSITION)
    ? byHandle(chain.rules, attributes, RULE.POSITION)
    : undefined;
  const handle = ++table.lastHandle;
  const { place } = transaction;
  let rule: Rule;
  try {
    const reading = new RuleReading(context, transaction, chain);
    const read = reading.read(request.bytes, attributes.at(RULE.EXPRESSIONS));
    rule = { chain, handle, ...read, userdata: attributes.copy(RULE.USERDATA, MAX_USERDATA_LENGTH) };
  } catch (error) {
    transaction.backTo(place);
    throw error;
  }
  const former = chain.rules;
  const isAppended = request.has(NLM_F.APPEND);
  const end = isAppended ? former.length : 0;
  const at = neighbour ? former.indexOf(neighbour) + (isAppended ? 1 : 0) : end;
  chain.rules = former.toSpliced(at, 0, rule);
  transaction.did(table, MSG.NEWRULE, rule, () => (chain.rules = former));
  if (rule.expressions.some(({ target, set, isAllowedIn }) => target ?? set ?? isAllowedIn)) lookLater(table);
}

/** Deletes one rule, all of a chain, or all of the table. */
export function deleteRules(context: Context, transaction: Transaction, message: Message): void {
  const { attributes } = message;
  const table = tableOf(context, message);
  if (!attributes.has(RULE.CHAIN)) {
    for (const chain of table.chains.values()) removeRules(transaction, chain, chain.rules);
    return;
  }
  const chain = named(table.chains, attributes, RULE.CHAIN);
  const rules = attributes.has(RULE.HANDLE) ? [byHandle(chain.rules, attributes, RULE.HANDLE)] : chain.rules;
  removeRules(transaction, chain, rules);
}

/** Takes rules out of their chain, and lets go of what they use. */
export function removeRules(transaction: Transaction, chain: Chain, rules: readonly Rule[]): void {
  if (rules.length === 0) return;
  const former = chain.rules;
  const gone = new Set(rules);
  chain.rules = former.filter((rule) => !gone.has(rule));
  for (const rule of rules) {
    transaction.did(chain.table, MSG.DELRULE, rule, () => (chain.rules = former));
    for (const expression of rule.expressions) letGo(transaction, rule, expression);
  }
}

function letGo(transaction: Transaction, { chain }: Rule, expression: Expression): void {
  const { target, set, counter, binding } = expression;
  if (target) transaction.jumpTo(target, -1);
  if (counter) transaction.use(counter, -1);
  if (!set || !binding) return;
  transaction.unbind(set, binding);
  if (!isFlagged(set, SET_FLAG.ANONYMOUS)) return;
  transaction.noJumpsOf(set);
  transaction.takeOut(chain.table, MSG.DELSET, chain.table.sets, set.name);
}
