import { Backoff } from '../../../../src/adapters/kubernetes/watch/backoff.js';

const times = { initial: 800, maximum: 30_000, resetAfter: 120_000 };

it('doubles up to the maximum', () => {
  const backoff = new Backoff(times, () => 1);
  let now = 0;
  const delays = Array.from({ length: 8 }, () => {
    const delay = backoff.next(now);
    now += delay;
    return delay;
  });
  expect(delays).toEqual([800, 1600, 3200, 6400, 12_800, 25_600, 30_000, 30_000]);
});

it('restarts after a time without failure, which does not include the waiting', () => {
  const backoff = new Backoff(times, () => 1);
  expect([backoff.next(0), backoff.next(800)]).toEqual([800, 1600]);
  expect(backoff.next(800 + 1600 + 120_000)).toBe(3200);
  expect(backoff.next(122_400 + 3200 + 120_001)).toBe(800);
});

it('restarts on reset', () => {
  const backoff = new Backoff(times, () => 1);
  expect([backoff.next(0), backoff.next(800)]).toEqual([800, 1600]);
  backoff.reset();
  expect(backoff.next(2400)).toBe(800);
});

it('is spread by up to its half', () => {
  expect(new Backoff(times, () => 0).next(0)).toBe(400);
});
