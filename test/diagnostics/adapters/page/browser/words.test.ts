import {
  summary,
  programmedChanges,
  timesShown,
} from '../../../../../src/diagnostics/adapters/page/browser/views/latency.js';
import {
  changeText,
  markOfChange,
} from '../../../../../src/diagnostics/adapters/page/browser/views/history-view.js';
import {
  clockTime,
  counted,
  durationText,
  parseServicePort,
} from '../../../../../src/diagnostics/adapters/page/browser/text.js';
import { portWords, bytesText } from '../../../../../src/diagnostics/application/words.js';
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

it('reads the key of a service port', () => {
  expect(parseServicePort('shop/cart/tcp/http')).toEqual({
    namespace: 'shop',
    name: 'cart',
    protocol: 'TCP',
    portName: 'http',
  });
  expect(portWords(parseServicePort('shop/cart/udp/')!)).toBe('(unnamed) UDP');
  expect(parseServicePort('shop/cart:http')).toEqual({
    namespace: 'shop',
    name: 'cart',
    protocol: '',
    portName: 'http',
  });
  expect(parseServicePort('10.96.0.80:80')).toBeUndefined();
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
    expect([markOfChange(all), changeText(all)]).toEqual(['bad', 'EBUSY']);
    const repaired: ChangeEntry = { kind: 'repaired', family: 'IPv4', time: timeText(0), writtenSteps: 1 };
    expect([markOfChange(repaired), changeText(repaired)]).toEqual(['waiting', '1 step']);
  });
});

describe('the times of changes', () => {
  it('are summed up', () => {
    const changes = Array.from({ length: 200 }, (_, number) =>
      change({ durationSeconds: (200 - number) / 1_000 }),
    );
    expect(summary(changes)).toEqual({ count: 200, median: 100, percentile99: 198, slowest: changes[0] });
  });

  it('are those of changes that reached the kernel', () => {
    const programmed = change();
    const failed = change({ result: 'failed' });
    const everything: ChangeEntry = {
      kind: 'everything-programmed',
      family: 'IPv4',
      time: timeText(0),
      writtenSteps: 9,
      durationSeconds: 5,
    };
    expect(programmedChanges([everything, failed, programmed])).toEqual([programmed]);
    expect(summary([])).toBeUndefined();
  });
});

describe('the times that a chart shows', () => {
  it.each([
    [100, 400, 500_000, [100, 500]],
    [495, 496, 500_000, [490, 500]],
    [100, 501, 500_000, [100, 501]],
    [100, 400, 0, [100, 400]],
  ])('with changes from %d s to %d s at %d ms are %j', (first, last, now, times) => {
    expect(timesShown(first, last, now)).toEqual(times);
  });
});
