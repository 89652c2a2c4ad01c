import { Backoff } from '../../../../src/adapters/kubernetes/watch/backoff.js';

const times = { initial: 1_600, maximum: 60_000, resetAfter: 120_000 };

it('is at most twice as long each time, up to the maximum', () => {
  const backoff = new Backoff(times, () => 1);
  let now = 0;
  const delays = Array.from({ length: 8 }, () => {
    const delay = backoff.next(now);
    now += delay;
    return delay;
  });
  expect(delays).toEqual([1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000, 60_000]);
});

it('starts over after a time without failure, not counting the delay', () => {
  const backoff = new Backoff(times, () => 1);
  expect([backoff.next(0), backoff.next(1600)]).toEqual([1600, 3200]);
  expect(backoff.next(1600 + 3200 + 120_000)).toBe(6400);
  expect(backoff.next(124_800 + 6400 + 120_001)).toBe(1600);
});

it('starts over after a reset', () => {
  const backoff = new Backoff(times, () => 1);
  expect([backoff.next(0), backoff.next(1600)]).toEqual([1600, 3200]);
  backoff.reset();
  expect(backoff.next(4800)).toBe(1600);
});

it('is spread evenly from nothing up to its limit', () => {
  const delays = Array.from({ length: 4000 }, () => new Backoff(times).next(0));
  for (let part = 0; part < 8; part++) {
    const inside = delays.filter((delay) => delay >= part * 200 && delay < (part + 1) * 200);
    // 500 are expected, with a deviation of 21.
    expect(Math.abs(inside.length - 500)).toBeLessThan(150);
  }
  expect(Math.max(...delays)).toBeLessThanOrEqual(1600);
});
