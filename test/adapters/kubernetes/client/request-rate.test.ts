import fc from 'fast-check';
import { FakeClock } from '../../../../src/testing/fakes/fake-clock.js';
import { RequestRate } from '../../../../src/adapters/kubernetes/client/api-client.js';

const never = new AbortController().signal;

/** The times in milliseconds at which requests are let through that are made at these times. */
async function letThrough(qps: number, burst: number, asked: readonly number[]): Promise<number[]> {
  const clock = new FakeClock(1_000_000);
  const rate = new RequestRate(qps, burst, clock);
  const times: number[] = [];
  for (const at of [...asked].sort((a, b) => a - b)) {
    await clock.advanceAsync(1_000_000 + at - clock.now());
    void rate.take(never).then(() => times.push(clock.now() - 1_000_000));
  }
  await clock.advanceAsync(1_000_000);
  return times;
}

describe('RequestRate', () => {
  it('lets a burst through at once, and then as many a second as it should', async () => {
    const asked = Array.from({ length: 15 }, () => 0);
    expect(await letThrough(5, 10, asked)).toEqual([...Array(10).fill(0), 200, 400, 600, 800, 1000]);
  });

  it('refills up to the burst while idle', async () => {
    const asked = [0, 0, 0, 60_000, 60_000, 60_000];
    expect(await letThrough(1, 2, asked)).toEqual([0, 0, 1000, 60_000, 60_000, 61_000]);
  });

  it('lets one through at a time without a burst', async () => {
    expect(await letThrough(10, 0, [0, 0, 0])).toEqual([0, 100, 200]);
  });

  it.each([-1, 0])('sets no limit with a rate of %i', async (qps) => {
    expect(await letThrough(qps, 1, [0, 0, 0])).toEqual([0, 0, 0]);
  });

  it('does not make those wait who have given up', async () => {
    const clock = new FakeClock();
    const rate = new RequestRate(1, 1, clock);
    const aborting = new AbortController();
    await rate.take(never);
    const waiting = rate.take(aborting.signal);
    aborting.abort();
    await waiting;
    expect(clock.pending).toBe(0);
  });

  it('is not emptied by a clock that is set back', async () => {
    const clock = { now: () => time, steady: () => time, after: new FakeClock().after };
    let time = 1_000_000;
    const rate = new RequestRate(1, 3, clock);
    await rate.take(never);
    time = 0;
    await rate.take(never);
    await rate.take(never);
  });

  it('never lets more through in any time than burst and rate allow, and keeps the order', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 20 }),
        fc.integer({ min: 1, max: 10 }),
        fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 40 }),
        async (qps, burst, asked) => {
          const times = await letThrough(qps, burst, asked);
          expect(times).toHaveLength(asked.length);
          expect(times).toEqual([...times].sort((a, b) => a - b));
          times.forEach((end, last) =>
            times.slice(0, last + 1).forEach((start, first) => {
              const most = burst + ((end - start) / 1000) * qps;
              expect(last - first + 1).toBeLessThanOrEqual(most + 1e-6);
            }),
          );
        },
      ),
      { numRuns: 50 },
    );
  });
});
