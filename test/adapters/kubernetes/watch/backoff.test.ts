import fc from 'fast-check';
import { Backoff } from '../../../../src/adapters/kubernetes/watch/retries.js';

const times = { initial: 1_600, maximum: 60_000, resetAfter: 120_000 };

it('is at most the initial time at first, then as long as the failures have lasted, up to the maximum', () => {
  const backoff = new Backoff(times, () => 1);
  let now = 0;
  const delays = Array.from({ length: 8 }, () => {
    const delay = backoff.next(now);
    now += delay;
    return delay;
  });
  expect(delays).toEqual([1600, 1600, 3200, 6400, 12_800, 25_600, 51_200, 60_000]);
});

it('starts over after a time without failure, not counting the delay', () => {
  const backoff = new Backoff(times, () => 1);
  backoff.next(0);
  expect(backoff.next(20_000)).toBe(20_000);
  expect(backoff.next(40_000 + 120_000)).toBe(60_000);
  expect(backoff.next(160_000 + 60_000 + 120_001)).toBe(1600);
});

it('starts over after a reset', () => {
  const backoff = new Backoff(times, () => 1);
  backoff.next(0);
  expect(backoff.next(20_000)).toBe(20_000);
  backoff.reset();
  expect(backoff.next(40_000)).toBe(1600);
});

it('brings everyone back when an outage’s length has passed again after it, or its minimum or maximum', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600_000 }), (outage) => {
      const backoff = new Backoff(times);
      let now = 0;
      while (now <= outage) now += backoff.next(now);
      expect(now - outage).toBeLessThanOrEqual(Math.min(60_000, Math.max(1600, outage)));
    }),
  );
});

it('asks a server that is down ever more rarely', () => {
  const backoff = new Backoff(times);
  let attempts = 0;
  for (let now = 0; now <= 60_000; now += backoff.next(now)) attempts++;
  // 11 on average.
  expect(attempts).toBeLessThan(40);
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
