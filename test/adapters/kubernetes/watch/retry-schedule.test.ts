import fc from 'fast-check';
import { ApiConnectionError, ApiError } from '../../../../src/adapters/kubernetes/client/api-error.js';
import { defaultReflectorTimings } from '../../../../src/adapters/kubernetes/watch/reflector.js';
import { RetrySchedule } from '../../../../src/adapters/kubernetes/watch/retries.js';

const times = defaultReflectorTimings.backoff;
const down = new ApiConnectionError('GET /', 'refused');
const busy = (retryAfter?: number) => new ApiError('GET /', 429, 'TooManyRequests', '', retryAfter);
const expired = new ApiError('GET /', 410, 'Expired', '');

it('waits as long as the server asks for, and a random time on top', () => {
  expect(new RetrySchedule(times, () => 0).afterFailure(busy(5000), 0)).toBe(5000);
  expect(new RetrySchedule(times, () => 0.5).afterFailure(busy(5000), 0)).toBe(5800);
});

it('spreads nodes that were told the same time over the whole back-off', () => {
  const waits = Array.from({ length: 1000 }, () => new RetrySchedule(times).afterFailure(busy(1000), 0));
  expect(Math.min(...waits)).toBeLessThan(1100);
  expect(Math.max(...waits)).toBeGreaterThan(2500);
});

it('does not let an outage delay the list after it', () => {
  const schedule = new RetrySchedule(times, () => 1);
  schedule.afterFailure(down, 0);
  expect(schedule.afterFailure(down, 10_000)).toBe(10_000);
  expect(schedule.afterFailure(expired, 10_000)).toBe(times.initial);
  expect(schedule.afterFailure(down, 20_000)).toBe(20_000);
  schedule.reached();
  expect(schedule.afterFailure(down, 20_000)).toBe(times.initial);
});

it('does not let a list wait because there was another one before, unless they come again and again', () => {
  const schedule = new RetrySchedule(times, () => 1);
  const waits = [0, 30_000, 60_000, 90_000, 120_000].map((now) => schedule.afterFailure(expired, now));
  expect(waits).toEqual([1600, 1600, 3200, 6400, 12_800]);
});

it('spreads watches that ended before their time, without counting a failure', () => {
  const schedule = new RetrySchedule(times, () => 1);
  expect([schedule.afterEarlyEnd(), schedule.afterEarlyEnd()]).toEqual([times.initial, times.initial]);
  expect(schedule.afterFailure(down, 0)).toBe(times.initial);
});

it('never waits less than asked, nor longer than that and the longest back-off', () => {
  const failure = fc.oneof(
    fc.constant(down),
    fc.constant(expired),
    fc.nat(60_000).map((wait) => busy(wait)),
  );
  const step = fc.record({ failure, later: fc.nat(300_000) });
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const schedule = new RetrySchedule(times);
      let now = 0;
      for (const { failure, later } of steps) {
        const asked = (failure instanceof ApiError && failure.retryAfter) || 0;
        const wait = schedule.afterFailure(failure, (now += later));
        expect(wait).toBeGreaterThanOrEqual(asked);
        expect(wait).toBeLessThanOrEqual(asked + times.maximum);
      }
    }),
  );
});
