import { HistorySum } from '../../../../src/diagnostics/application/cluster/cluster-activity.js';
import type { ChangeEntry } from '../../../../src/application/status/change-entry.js';
import { timeText } from '../../../../src/domain/model/text.js';

const change = (at: number) =>
  ({ kind: 'repaired', family: 'IPv4', time: timeText(at), writtenSteps: 1 }) as ChangeEntry;

it('keeps the thousand newest changes of all nodes, the oldest first, and counts all', () => {
  const sum = new HistorySum();
  const unknown = [{ name: 'web', reason: 'no such Service' }];
  sum.add('a', {
    changes: Array.from({ length: 999 }, (_, index) => change(2 * index)),
    total: 5_000,
    unknownNames: unknown,
  });
  sum.add('b', { changes: [change(3), change(1)], total: 2, unknownNames: unknown });
  const result = sum.result();
  expect(result.changes).toHaveLength(1_000);
  expect(result.changes.slice(0, 3).map(({ time, node }) => [Date.parse(time), node])).toEqual([
    [1, 'b'],
    [2, 'a'],
    [3, 'b'],
  ]);
  expect([result.total, result.unknownNames]).toEqual([5_002, unknown]);
});

it('takes a Service for known that one node knows', () => {
  const sum = new HistorySum();
  sum.add('a', { changes: [], total: 0, unknownNames: [{ name: 'web', reason: '' }] });
  sum.add('b', { changes: [], total: 0 });
  expect(sum.result()).toEqual({ changes: [], total: 0, unknownNames: [] });
});
