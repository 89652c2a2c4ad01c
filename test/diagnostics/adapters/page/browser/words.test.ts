import {
  changesPerMinute,
  latencies,
} from '../../../../../src/diagnostics/adapters/page/browser/views/overview-view.js';
import {
  changeText,
  markOf,
} from '../../../../../src/diagnostics/adapters/page/browser/views/history-view.js';
import {
  addressRank,
  clockTime,
  counted,
  durationText,
} from '../../../../../src/diagnostics/adapters/page/browser/text.js';
import { bytesText } from '../../../../../src/diagnostics/application/words.js';
import type { ChangeEntry, ServicePortChange } from '../../../../../src/application/status/change-entry.js';
import { timeText } from '../../../../../src/domain/model/text.js';
import { serviceChange as change } from './samples.js';

it.each([
  [0.44, '0.4 ms'],
  [9.96, '10 ms'],
  [850, '850 ms'],
  [4_230, '4.2 s'],
  [119_000, '119 s'],
  [180_000, '3 min'],
  [5 * 3_600_000, '5 h'],
  [12 * 86_400_000, '12 d'],
])('%d ms are %s', (milliseconds, text) => {
  expect(durationText(milliseconds)).toBe(text);
});

it.each([
  [0, '0 B'],
  [1_023, '1023 B'],
  [1_024, '1.0 KiB'],
  [3_500, '3.4 KiB'],
  [52_428_800, '50.0 MiB'],
])('%d bytes are %s', (count, text) => {
  expect(bytesText(count)).toBe(text);
});

it('names the day of times that are not today', () => {
  const noon = new Date(2026, 4, 4, 12, 2, 11).getTime();
  expect(clockTime(noon, noon + 1_000)).toBe('12:02:11');
  expect(clockTime(noon, noon + 86_400_000)).toBe('2026-05-04 12:02:11');
});

it('counts in words', () => {
  expect([counted(1, 'endpoint'), counted(10_000, 'service')]).toEqual(['1 endpoint', '10,000 services']);
});

it.each([
  [['10.2.0.1:80', '10.10.0.1:80', '10.10.0.1:8080', '10.10.0.12:80']],
  [['[fd00::9]:80', '[fd00::a]:80', '[fd00::10]:80']],
])('addresses are sorted as numbers: %j', (sorted) => {
  const orders = sorted.map(addressRank);
  expect([...orders].sort()).toEqual(orders);
});

describe('a change', () => {
  it.each<readonly [Partial<ServicePortChange>, string]>([
    [
      { endpointChange: { count: 3, added: 1, removed: 0, changed: 0, examples: ['+10.244.1.7:8080'] } },
      'endpoints 2 → 3: +10.244.1.7:8080',
    ],
    [
      { endpointChange: { count: 3, added: 2, removed: 1, changed: 0, examples: ['+10.244.1.7:8080'] } },
      'endpoints 2 → 3: +10.244.1.7:8080 and 2 more',
    ],
    [{}, '2 endpoints as before'],
    [{ result: 'removed' }, '3 steps'],
    [{ result: 'failed', reason: 'EINVAL' }, 'EINVAL'],
  ])('%j is told as %s', (more, text) => {
    expect(changeText(change(more))).toBe(text);
  });

  it('of all rules has a mark of its own', () => {
    const all: ChangeEntry = {
      kind: 'sync-failed',
      family: 'IPv6',
      time: timeText(0),
      writtenSteps: 0,
      reason: 'EBUSY',
    };
    expect([markOf(all), changeText(all)]).toEqual(['error', 'EBUSY']);
    const repaired: ChangeEntry = { kind: 'repaired', family: 'IPv4', time: timeText(0), writtenSteps: 1 };
    expect([markOf(repaired), changeText(repaired)]).toEqual(['warning', '1 step']);
  });
});

describe('the latency of changes', () => {
  it('is the median and the 99th percentile', () => {
    const changes = Array.from({ length: 200 }, (_, number) =>
      change({ durationSeconds: (200 - number) / 1_000 }),
    );
    expect(latencies(changes)).toEqual({ median: 100, percentile99: 198 });
  });

  it('is that of changes that reached the kernel', () => {
    const everything: ChangeEntry = {
      kind: 'everything-programmed',
      family: 'IPv4',
      time: timeText(0),
      writtenSteps: 9,
      durationSeconds: 0.005,
    };
    const failed = change({ result: 'failed', durationSeconds: 0.9 });
    expect(latencies([everything, failed, change({ durationSeconds: 0.003 })])).toEqual({
      median: 3,
      percentile99: 3,
    });
    expect(latencies([failed])).toEqual({ median: undefined, percentile99: undefined });
  });
});

describe('the changes per minute', () => {
  const at = (seconds: number) => ({ time: timeText(seconds * 1_000) });

  it('are those of the last minute', () => {
    expect(changesPerMinute([at(10), at(39), at(40), at(99)], 100_000)).toBe(2);
    expect(changesPerMinute([], 100_000)).toBe(0);
  });

  it('are extrapolated where the proxy has forgotten some of them', () => {
    const changes = Array.from({ length: 1_000 }, (_, number) => at(90 + number / 100));
    expect(changesPerMinute(changes, 100_000)).toBe(6_000);
  });
});
