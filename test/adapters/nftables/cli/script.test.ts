import { readFailures } from '../../../../src/adapters/nftables/cli/messages.js';
import { writeScript } from '../../../../src/adapters/nftables/cli/script.js';
import { NftCommitError } from '../../../../src/adapters/nftables/transport.js';
import type { Operation, SetDefinition } from '../../../../src/domain/nftables/layout/table.js';

const SET: SetDefinition = { name: 's', key: ['address'] };
const elements = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ key: `10.0.${index >> 8}.${index & 255}` }));

const OPERATIONS: readonly Operation[] = [
  { op: 'add-table', comment: 'x' },
  { op: 'add-elements', set: SET, elements: elements(9000) },
  { op: 'delete-elements', set: SET, elements: [] },
  { op: 'delete-chain', chain: 'c' },
  { op: 'delete-elements', set: SET, elements: elements(3) },
];

describe('a script for nft', () => {
  it('finds the operation and element behind each line', async () => {
    const script = await writeScript('IPv4', OPERATIONS);
    const lines = script.pieces.join('').trimEnd().split('\n');
    expect(script.pieces.length).toBeGreaterThan(1);
    let found = 0;
    for (const [index, text] of lines.entries()) {
      const { operation, element } = script.locate(index + 1)!;
      const described = OPERATIONS[operation]!;
      if (element === undefined) {
        expect(text).toMatch(/^(add|delete) |^\}$/);
      } else {
        found++;
        expect('elements' in described && described.elements[element]!.key).toBe(text.replace(',', ''));
      }
    }
    expect(found).toBe(9003);
    expect(script.locate(0)).toBeUndefined();
  });

  it('is not written with hostile text; every operation that holds some is named', async () => {
    const hostile: Operation[] = [
      { op: 'add-chain', chain: { name: 'x;y' } },
      { op: 'add-elements', set: SET, elements: [...elements(300), { key: 'a\nb' }] },
      { op: 'delete-table' },
    ];
    const error = await writeScript('IPv4', hostile).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(NftCommitError);
    expect((error as NftCommitError).failures).toMatchObject([
      { operation: 0 },
      { operation: 1, element: 300 },
    ]);
  });

  it('reads messages with a place, and keeps those without', async () => {
    const script = await writeScript('IPv4', OPERATIONS);
    const placed = [
      '/dev/stdin:4:1-9: Error: Could not process rule: File exists',
      '10.0.0.1,',
      '^^^^^^^^^',
      '/dev/stdin:1:1-9: Error: syntax error, unexpected newline',
    ].join('\n');
    expect(readFailures(placed, script)).toEqual([
      { operation: 1, element: 1, reason: 'EEXIST' },
      { operation: 0, reason: 'syntax error, unexpected newline' },
    ]);
    expect(readFailures('internal:0:0-0: Error: conflicting protocols specified: ip vs. th', script)).toEqual(
      [{ reason: 'conflicting protocols specified: ip vs. th' }],
    );
    expect(
      readFailures('netlink: Error: Could not process rule: No buffer space available\n', script),
    ).toEqual([{ reason: 'ENOBUFS' }]);
    expect(readFailures('', script)).toEqual([{ reason: 'nft gave no reason' }]);
  });
});
