import fc from 'fast-check';
import { ListQueue } from '../../../bench/fleet/herd/list-queue.js';

it('runs as many lists at once as it has seats, then those that wait, in order', () => {
  const queue = new ListQueue({ seats: 2, queue: 2 });
  expect([1, 2, 3, 4, 5].map(() => queue.admit(0, 100))).toEqual([100, 100, 200, 200, undefined]);
  expect(queue.admit(100, 100)).toBe(300);
});

it('doubles its Retry-After while it refuses many, at most to 32 s, and lowers it again', () => {
  const queue = new ListQueue({ seats: 1, queue: 0 });
  const asked: number[] = [];
  for (let now = 0; now < 100_000; now += 10) asked.push(queue.refuse(now));
  expect([...new Set(asked)]).toEqual([1, 2, 4, 8, 16, 32]);
  expect(queue.refuse(1_000_000)).toBe(1);
});

it('never runs more than its seats at once', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(50)), fc.integer({ min: 1, max: 5 }), fc.nat(10), (gaps, seats, waiting) => {
      const queue = new ListQueue({ seats, queue: waiting });
      const runs: (readonly [number, number])[] = [];
      let now = 0;
      for (const gap of gaps) {
        const end = queue.admit((now += gap), 100);
        if (end !== undefined) runs.push([end - 100, end]);
      }
      for (const [begin] of runs) {
        const atOnce = runs.filter(([other, end]) => other <= begin && begin < end);
        expect(atOnce.length).toBeLessThanOrEqual(seats);
      }
    }),
  );
});
