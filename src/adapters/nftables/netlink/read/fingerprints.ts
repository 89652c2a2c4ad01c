import type { IpFamily } from '../../../../domain/net/ip-family.js';
import type { Rule } from '../../../../domain/nftables/layout/rule.js';
import type { ChainDefinition, SetDefinition } from '../../../../domain/nftables/layout/table.js';
import { AttributeReader } from '../../../netlink/attribute-reader.js';
import { MessageWriter } from '../../../netlink/message-writer.js';
import { putRule } from '../encode/rule-encoder.js';
import { describeLayout, setLayout } from '../encode/set-layout.js';
import { describeBaseChain, readRule, REGULAR_CHAIN } from './table-reader.js';

/** The text that readRule would return for the rule: the rule is encoded as for sending, then read. */
export function fingerprintRule(family: IpFamily, rule: Rule): string {
  const writer = new MessageWriter(4096);
  putRule(writer, family, rule);
  return readRule(new AttributeReader(writer.bytes, 0, writer.length)).fingerprint;
}

/** The comment does not count: a set is not recreated because of a comment. */
export function fingerprintSet(family: IpFamily, set: SetDefinition): string {
  return describeLayout(setLayout(family, set));
}

export function fingerprintChain({ hook }: ChainDefinition): string {
  return hook ? describeBaseChain(hook.type, hook.hook, hook.priority) : REGULAR_CHAIN;
}
