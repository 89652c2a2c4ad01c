import { timeText } from '../../../../../src/domain/model/text.js';
import { filterChanges } from '../../../../../src/diagnostics/adapters/page/browser/views/history-view.js';
import type { ChangeEntry } from '../../../../../src/application/status/change-entry.js';
import { serviceChange } from './samples.js';

const changes: readonly ChangeEntry[] = [
  {
    kind: 'everything-programmed',
    family: 'IPv4',
    time: timeText(1),
    writtenSteps: 9,
    durationSeconds: 0.005,
  },
  serviceChange({
    time: timeText(2),
    endpointChange: { count: 3, added: 1, removed: 0, changed: 0, examples: ['+10.244.1.7:8080'] },
  }),
  serviceChange({ time: timeText(3), servicePort: 'shop/web', result: 'failed', reason: 'EINVAL' }),
  serviceChange({ time: timeText(4), family: 'IPv6', result: 'degraded', reason: 'lost to shop/old' }),
  { kind: 'repaired', family: 'IPv4', time: timeText(5), writtenSteps: 1 },
];

describe('changes', () => {
  it.each([
    ['', [1, 2, 3, 4, 5]],
    ['shop/cart', [2, 4]],
    ['cart ipv6', [4]],
    ['10.244.1.7', [2]],
    ['EINVAL', [3]],
    ['another program', [5]],
    ['http programmed', [2]],
    ['nothing', []],
  ])('in which %j occurs are found', (text, times) => {
    expect(filterChanges(changes, text, false).map(({ time }) => Date.parse(time))).toEqual(times);
  });

  it('are shown alone where something went wrong', () => {
    expect(filterChanges(changes, '', true).map(({ time }) => Date.parse(time))).toEqual([3, 4, 5]);
    expect(filterChanges(changes, 'cart', true).map(({ time }) => Date.parse(time))).toEqual([4]);
  });
});
