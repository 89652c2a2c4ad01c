import { BatchEncoder } from '../../../../src/adapters/nftables/netlink/batch-encoder.js';
import { AttributeReader, readMessages } from '../../../../src/adapters/netlink/message-reader.js';
import { MessageWriter } from '../../../../src/adapters/netlink/message-writer.js';
import { rule, RuleParts } from '../../../../src/domain/nftables/layout/rule-parts.js';
import type { Operation, SetDefinition, SetElement } from '../../../../src/domain/nftables/layout/table.js';

function encode(operations: readonly Operation[], firstSequence = 0) {
  const writer = new MessageWriter(64);
  const encoder = new BatchEncoder(writer, 'IPv4', firstSequence);
  for (const _ of encoder.encode(operations));
  return { bytes: Buffer.from(writer.bytes.subarray(0, writer.length)), index: encoder.index };
}

function hex(operations: readonly Operation[]): string[] {
  const { bytes } = encode(operations);
  return [...readMessages(bytes, bytes.length)].map(({ start, end }) =>
    bytes.toString('hex', start - 16, end),
  );
}

const squeeze = (text: string) => text.replace(/\s+/g, '');
const TABLE = squeeze('0f000100 6b7562652d70726f787900 00');
const SERVICE_IPS: SetDefinition = {
  name: 'service-ips',
  key: ['address', 'protocol', 'port'],
  value: 'verdict',
};
const KEY = { key: '10.96.0.20 . tcp . 80' };
const FAMILY = '02000000';

describe('a batch', () => {
  it('has the bytes that `nft --echo` sends for its first operation, and nft for the others (docs/internals/spec/nft-netlink.md §15)', () => {
    const messages = hex([
      { op: 'add-table', comment: 'c' },
      { op: 'add-chain', chain: { name: 'web' } },
      { op: 'add-set', set: SERVICE_IPS },
      { op: 'add-elements', set: SERVICE_IPS, elements: [{ ...KEY, value: 'goto web' }] },
      { op: 'delete-elements', set: SERVICE_IPS, elements: [KEY] },
    ]);
    const web = squeeze('08000300 77656200');
    const serviceIps = squeeze('10000200 736572766963652d69707300');
    const key = squeeze('14000180 10000100 0a600014 06000000 00500000');
    expect(messages).toEqual(
      [
        '14000000 1000 0100 00000000 00000000 0000000a',
        `34000000 000a 0900 01000000 00000000 ${FAMILY} ${TABLE} 08000200 00000000 08000600 00026300`,
        `2c000000 030a 0104 02000000 00000000 ${FAMILY} ${TABLE} ${web}`,
        `84000000 090a 0104 03000000 00000000 ${FAMILY} ${TABLE} ${serviceIps} 08000300 00000008
         08000400 0000730d 08000500 0000000c 08000600 ffffff00 08000700 00000000 08000a00 00000001
         20000d00 000400000000 010400000000 030800040d0000000100 060400000000`,
        `68000000 0c0a 0104 04000000 00000000 ${FAMILY} ${TABLE} ${serviceIps} 34000380 30000180 ${key}
         18000280 14000280 08000100 fffffffc 08000200 77656200`,
        `50000000 0e0a 0100 05000000 00000000 ${FAMILY} ${TABLE} ${serviceIps} 1c000380 18000180 ${key}`,
        '14000000 1100 0100 06000000 00000000 0000000a',
      ].map(squeeze),
    );
  });

  it('translates by a map that holds address and port', () => {
    const translated = rule([new RuleParts('IPv4').translate(['l4proto', 'dport'], 'endpoints').slice(2)]);
    const [, message] = hex([{ op: 'add-rule', chain: 'a', rule: translated }]);
    expect(message!.slice(32 + 8 + TABLE.length)).toBe(
      squeeze(`
        06000200 61000000
        e0000480
          24000180 09000100 6d65746100 000000  14000280 08000200 00000010 08000100 00000001
          34000180 0c000100 7061796c6f616400   24000280 08000100 00000009 08000200 00000002
                                                        08000300 00000002 08000400 00000002
          3c000180 0b000100 6c6f6f6b757000 00  2c000280 0e000100 656e64706f696e747300 0000
                                                        08000200 00000001 08000300 00000001 08000500 00000000
          48000180 08000100 6e617400           3c000280 08000100 00000001 08000200 00000002 08000300 00000001
                                                        08000400 00000001 08000500 00000009 08000600 00000009
                                                        08000700 00000003
      `),
    );
  });

  it('flushes and deletes with the fewest attributes', () => {
    const set: SetDefinition = { name: 's', key: [] };
    const messages = hex([
      { op: 'flush-chain', chain: 'a' },
      { op: 'delete-chain', chain: 'a' },
      { op: 'delete-set', set },
      { op: 'delete-table' },
    ]).slice(1, -1);
    const named = (op: string, sequence: number, name: string) =>
      squeeze(
        `2c000000 ${op}0a 0${sequence === 1 ? 9 : 1}00 0${sequence}000000 00000000 ${FAMILY} ${TABLE} ${name}`,
      ).replace(/^2c/, '2c');
    expect(messages).toEqual([
      named('08', 1, '06000200 61000000'),
      named('05', 2, '06000300 61000000'),
      named('0b', 3, '06000200 73000000'),
      squeeze(`24000000 020a 0100 04000000 00000000 ${FAMILY} ${TABLE}`),
    ]);
  });

  it('asks what came of it by a first message with one element, and not where the answer would be long', () => {
    const set: SetDefinition = { name: 'ports', key: ['protocol', 'port'] };
    const elements = [1, 2, 3].map((port): SetElement => ({ key: `tcp . ${port}` }));
    const { bytes } = encode([
      { op: 'delete-elements', set, elements },
      { op: 'add-elements', set, elements },
    ]);
    const [begin, one, rest, next] = [...readMessages(bytes, bytes.length)];
    expect([begin, one, rest, next].map((message) => message!.flags)).toEqual([0x1, 0x9, 0x1, 0x401]);
    const length = (message: typeof one) => message!.end - message!.start;
    expect(length(next) - length(rest)).toBe(length(rest) - length(one));
    const { bytes: other } = encode([{ op: 'delete-table' }, { op: 'add-elements', set, elements }]);
    expect([...readMessages(other, other.length)].map(({ flags }) => flags)).toEqual([0x1, 0x1, 0x401, 0x1]);
  });

  it('spreads long lists over messages and finds the element behind an offset', () => {
    const set: SetDefinition = { name: 'numbers', key: ['protocol', 'port'], value: ['priority'] };
    const elements = Array.from({ length: 2500 }, (_, index): SetElement => ({
      key: `tcp . ${index}`,
      value: '8000:1',
      comment: `comment ${index}`,
    }));
    const { bytes, index } = encode(
      [
        { op: 'add-chain', chain: { name: 'x' } },
        { op: 'add-elements', set, elements },
      ],
      100,
    );
    const lists = [...readMessages(bytes, bytes.length)].filter(({ type }) => type === 0x0a0c);
    expect(lists.length).toBeGreaterThan(2);
    const blamed: unknown[] = [];
    for (const { start, end, sequence } of lists) {
      const attributes = new AttributeReader(bytes, start + 4, end);
      while (attributes.next()) {
        if (attributes.type !== 3) continue;
        const entries = attributes.nested();
        while (entries.next()) {
          const offset = entries.start - 4 - (start - 16);
          const reply = { sequence, errno: 17, offset };
          blamed.push(
            index.failureOf(reply, bytes),
            index.failureOf({ ...reply, offset: offset + 4 }, bytes),
          );
        }
      }
      expect(index.failureOf({ sequence, errno: 28 }, bytes)).toEqual({ operation: 1, reason: 'ENOSPC' });
      expect(index.failureOf({ sequence, errno: 28, offset: 20 }, bytes)).toEqual({
        operation: 1,
        reason: 'ENOSPC',
      });
    }
    const failureOf = (element: number) => ({ operation: 1, element, reason: 'EEXIST' });
    expect(blamed).toEqual(elements.flatMap((_, element) => [failureOf(element), failureOf(element)]));
  });

  it('distinguishes errors of operations from those of the whole, and from replies to something else', () => {
    const { bytes, index } = encode([{ op: 'add-chain', chain: { name: 'x' } }], 100);
    expect(index.nextSequence).toBe(103);
    expect(index.failureOf({ sequence: 101, errno: 22, explanation: 'no' }, bytes)).toEqual({
      operation: 0,
      reason: 'EINVAL: no',
    });
    expect(index.failureOf({ sequence: 100, errno: 85 }, bytes)).toEqual({ reason: 'ERESTART' });
    expect(index.failureOf({ sequence: 101, errno: 0 }, bytes)).toBeUndefined();
    expect(index.failureOf({ sequence: 99, errno: 22 }, bytes)).toBeUndefined();
    expect(index.failureOf({ sequence: 103, errno: 22 }, bytes)).toBeUndefined();
  });

  it.each<[string, SetDefinition, SetElement]>([
    ['a value in a set', { name: 's', key: ['port'] }, { key: '1', value: '2' }],
    ['no value in a map', { name: 's', key: ['port'], value: ['port'] }, { key: '1' }],
    ['a verdict that is none', { name: 's', key: ['port'], value: 'verdict' }, { key: '1', value: 'goto' }],
    [
      'a chain that nft cannot name',
      { name: 's', key: ['port'], value: 'verdict' },
      { key: '1', value: 'goto a b' },
    ],
    ['a comment that nft cannot read', { name: 's', key: ['port'] }, { key: '1', comment: 'a"b' }],
    ['a comment that is too long', { name: 's', key: ['port'] }, { key: '1', comment: 'a'.repeat(129) }],
    ['an empty comment', { name: 's', key: ['port'] }, { key: '1', comment: '' }],
  ])('refuses %s, and says where', (_, set, element) => {
    const good: SetElement = {
      key: '7',
      ...(set.value && { value: set.value === 'verdict' ? 'drop' : '9' }),
    };
    const encoder = new BatchEncoder(new MessageWriter(), 'IPv4', 1);
    const operations: Operation[] = [
      { op: 'delete-table' },
      { op: 'add-elements', set, elements: [good, element] },
    ];
    expect(() => [...encoder.encode(operations)]).toThrow('cannot be written to nftables');
    expect(encoder.position).toEqual({ operation: 1, element: 1 });
  });
});
