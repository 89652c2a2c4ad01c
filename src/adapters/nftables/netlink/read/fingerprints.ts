import type { IpFamily } from '../../../../domain/net/ip-family.js';
import type { Rule } from '../../../../domain/nftables/layout/rule.js';
import type { ChainDefinition, SetDefinition } from '../../../../domain/nftables/layout/table.js';
import { ruleRecord } from '../encode/rule-encoder.js';
import { HOOKS } from '../messages/hooks.js';
import { describeLayout, setLayout } from '../encode/set-layout.js';
import { VERDICT_CODES } from '../nf-tables.js';
import { expressionText } from '../messages/expressions.js';
import type { ChainRecord, RuleRecord, SetRecord } from '../messages/records.js';

const REGULAR_CHAIN = 'regular chain';

export function ruleFingerprint({ expressions = [], userdata }: RuleRecord): string {
  const texts = expressions.map(expressionText).join('; ');
  return userdata?.comment === undefined ? texts : `${texts} # ${userdata.comment}`;
}

/** The chain without its rules. */
export function chainFingerprint({ hook, type = '', policy }: ChainRecord): string {
  if (!hook) return REGULAR_CHAIN;
  const { number = 0, priority = 0 } = hook;
  return describeBaseChain(type, HOOKS[number] ?? `hook ${number}`, priority | 0, policy);
}

export function setFingerprint(set: SetRecord): string {
  const { flags = 0, keyType = 0, keyLength = 0, dataType = 0, dataLength = 0, description } = set;
  return describeLayout({ flags, keyType, keyLength, dataType, dataLength, size: description?.size ?? 0 });
}

/** That of the rule when the kernel lists it. Throws UnsafeTextError. */
export function fingerprintRule(family: IpFamily, rule: Rule): string {
  return ruleFingerprint(ruleRecord(family, rule));
}

/** The comment does not count: a set is not recreated because of a comment. */
export function fingerprintSet(family: IpFamily, set: SetDefinition): string {
  return describeLayout(setLayout(family, set));
}

export function fingerprintChain({ hook }: ChainDefinition): string {
  return hook ? describeBaseChain(hook.type, hook.hook, hook.priority) : REGULAR_CHAIN;
}

function describeBaseChain(
  type: string,
  hook: string,
  priority: number,
  policy: number = VERDICT_CODES.accept,
): string {
  const accepts = policy === VERDICT_CODES.accept ? 'accept' : `verdict ${policy}`;
  return `type ${type} hook ${hook} priority ${priority} policy ${accepts}`;
}
