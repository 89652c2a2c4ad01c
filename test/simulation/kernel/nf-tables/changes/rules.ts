import { E, NLM_F } from '../../netlink/numbers.js';
import { Refusal, typeAt, within } from '../../netlink/attributes.js';
import { byHandle, chainOf, tableOf, type Context, type Message } from '../context.js';
import { RuleReading } from '../expressions/rule-reading.js';
import { LIST_ELEM, MAX_EXPRESSIONS, MAX_USERDATA_LENGTH, MSG, RULE, SET_FLAG } from '../numbers.js';
import { isFlagged, type Chain, type Expression, type Rule } from '../objects.js';
import { lookLater, mustBeLookedAt } from './reach.js';
import type { Transaction } from './transaction.js';

export function newRule(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, flags } = message;
  const table = tableOf(context, message, RULE.TABLE, transaction.port);
  const chain = chainOf(table, attributes, RULE.CHAIN);
  const neighbour = neighbourOf(chain, transaction, message);
  const isReplaced = (flags & NLM_F.REPLACE) !== 0;
  const handle = ++table.lastHandle;
  const { place } = transaction;
  let rule: Rule;
  try {
    const { expressions, dumped } = read(context, transaction, chain, message);
    const userdata = attributes.copy(RULE.USERDATA, MAX_USERDATA_LENGTH);
    rule = { chain, handle, expressions, dumped, userdata };
  } catch (error) {
    transaction.backTo(place);
    throw error;
  }
  const former = chain.rules;
  if (isReplaced) removeRules(transaction, chain, [neighbour!], [rule]);
  else insert(chain, rule, neighbour, (flags & NLM_F.APPEND) !== 0);
  const id = attributes.be32(RULE.ID);
  if (id !== undefined) transaction.rules.set(id, rule);
  transaction.did(table, MSG.NEWRULE, rule, () => (chain.rules = former));
  if (rule.expressions.some((expression) => mustBeLookedAt(expression))) lookLater(table);
}

/** Deletes one rule, all of a chain, or all of the table. */
export function deleteRules(context: Context, transaction: Transaction, message: Message): void {
  const { attributes, kind } = message;
  const table = tableOf(context, message, RULE.TABLE, transaction.port);
  if (!attributes.has(RULE.CHAIN)) {
    for (const chain of table.chains.values()) removeRules(transaction, chain, chain.rules);
    return;
  }
  const name = attributes.text(RULE.CHAIN)!;
  if (kind === MSG.DESTROYRULE && !table.chains.has(name)) return;
  const chain = chainOf(table, attributes, RULE.CHAIN);
  if (attributes.has(RULE.HANDLE)) {
    const rule = byHandle(chain.rules, attributes.be64(RULE.HANDLE));
    if (rule) return removeRules(transaction, chain, [rule]);
    if (kind === MSG.DESTROYRULE) return;
    throw new Refusal(E.ENOENT, attributes.at(RULE.HANDLE));
  }
  if (attributes.has(RULE.ID)) {
    const rule = transaction.rules.get(attributes.be32(RULE.ID)!) as Rule | undefined;
    if (!rule) throw new Refusal(E.ENOENT, attributes.at(RULE.ID));
    return removeRules(transaction, chain, [rule]);
  }
  removeRules(transaction, chain, chain.rules);
}

/** Takes rules out of their chain, and lets go of what they use. @param replacements in place of the first */
export function removeRules(
  transaction: Transaction,
  chain: Chain,
  rules: readonly Rule[],
  replacements: readonly Rule[] = [],
): void {
  if (rules.length === 0) return;
  const former = chain.rules;
  const at = former.indexOf(rules[0]!);
  const gone = new Set(rules);
  const left = former.filter((rule) => !gone.has(rule));
  chain.rules = replacements.length === 0 ? left : left.toSpliced(at, 0, ...replacements);
  for (const rule of rules) {
    transaction.did(chain.table, MSG.DELRULE, rule, () => (chain.rules = former));
    for (const expression of rule.expressions) letGo(transaction, rule, expression);
  }
}

function letGo(transaction: Transaction, { chain }: Rule, expression: Expression): void {
  const { target, set, counter, binding } = expression;
  if (target) transaction.noJumpTo(target);
  if (counter) {
    counter.uses--;
    transaction.also(() => counter.uses++);
  }
  if (!set || !binding) return;
  transaction.unbind(set, binding);
  if (!isFlagged(set, SET_FLAG.ANONYMOUS)) return;
  transaction.noJumpsOf(set);
  transaction.takeOut(chain.table, MSG.DELSET, chain.table.sets, set.name);
}

/** The rule that a message places its own beside, or replaces. */
function neighbourOf(
  chain: Chain,
  transaction: Transaction,
  { attributes, flags }: Message,
): Rule | undefined {
  if (attributes.has(RULE.HANDLE)) {
    const at = attributes.at(RULE.HANDLE);
    const rule = byHandle(chain.rules, attributes.be64(RULE.HANDLE));
    if (!rule) throw new Refusal(E.ENOENT, at);
    if ((flags & NLM_F.EXCL) !== 0) throw new Refusal(E.EEXIST, at);
    if ((flags & NLM_F.REPLACE) === 0) throw new Refusal(E.EOPNOTSUPP);
    return rule;
  }
  if ((flags & NLM_F.CREATE) === 0 || (flags & NLM_F.REPLACE) !== 0) throw new Refusal(E.EINVAL);
  if (attributes.has(RULE.POSITION)) {
    const rule = byHandle(chain.rules, attributes.be64(RULE.POSITION));
    if (!rule) throw new Refusal(E.ENOENT, attributes.at(RULE.POSITION));
    return rule;
  }
  if (!attributes.has(RULE.POSITION_ID)) return undefined;
  const rule = transaction.rules.get(attributes.be32(RULE.POSITION_ID)!) as Rule | undefined;
  if (!rule) throw new Refusal(E.ENOENT, attributes.at(RULE.POSITION_ID));
  return rule;
}

function insert(chain: Chain, rule: Rule, neighbour: Rule | undefined, isAppended: boolean): void {
  const { rules } = chain;
  if (!neighbour) chain.rules = isAppended ? [...rules, rule] : [rule, ...rules];
  else chain.rules = rules.toSpliced(rules.indexOf(neighbour) + (isAppended ? 1 : 0), 0, rule);
}

function read(
  context: Context,
  transaction: Transaction,
  chain: Chain,
  { attributes, bytes }: Message,
): Pick<Rule, 'expressions' | 'dumped'> {
  const reading = new RuleReading(context, transaction, chain);
  const list = attributes.at(RULE.EXPRESSIONS);
  let count = 0;
  for (const at of list === undefined ? [] : within(bytes, list)) {
    if (typeAt(bytes, at) !== LIST_ELEM || ++count > MAX_EXPRESSIONS) throw new Refusal(E.EINVAL);
    reading.add(bytes, at);
  }
  return reading.end();
}
