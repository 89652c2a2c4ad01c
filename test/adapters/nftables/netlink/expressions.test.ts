import { AttributeReader } from '../../../../src/adapters/netlink/message-reader.js';
import { MessageWriter } from '../../../../src/adapters/netlink/message-writer.js';
import { kernelRule } from '../../../../src/adapters/nftables/netlink/kernel-table.js';
import { RULE } from '../../../../src/adapters/nftables/netlink/records.js';
import type { Expression } from '../../../../src/domain/nftables/kernel/ruleset.js';
import { rule, RuleParts } from '../../../../src/domain/nftables/layout/rule-parts.js';

const parts = new RuleParts('IPv4');
const { expressions } = rule([
  parts.translate(['daddr'], 'endpoints'),
  parts.remember(['saddr'], 'clients', 10),
  parts.reject,
]);

function readBack(written: readonly Expression[]): readonly Expression[] {
  const writer = new MessageWriter();
  RULE.write(writer, { expressions: written });
  return kernelRule(RULE.read(new AttributeReader(writer.bytes, 0, writer.length))).expressions;
}

it('are read as they were written', () => {
  expect(readBack(expressions)).toEqual(expressions);
});

it.each([
  ['nat', { flags: 1 }],
  ['nat', { lastPort: 0 }],
  ['nat', { family: 'IPv6' }],
  ['remember', { op: 0 }],
  ['remember', { timeoutSeconds: 11 }],
  ['reject', { code: 1 }],
  ['reject', { type: 1 }],
  ['cmp', { op: '==' }],
])('are told apart by what the kernel has otherwise: %s %j', (kind, change) => {
  const changed = expressions.map((each) =>
    each.kind === kind ? ({ ...each, ...change } as Expression) : each,
  );
  expect(readBack(changed)).toEqual(changed);
  expect(readBack(changed)).not.toEqual(expressions);
});
