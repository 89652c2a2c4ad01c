import { leastOfEach, median, quantile } from '../../bench/statistics.js';

it('finds the middle and the far end of measurements', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(quantile([4, 3, 2, 1], 0.99)).toBe(4);
});

it('takes the least of each figure', () => {
  const runs: { read?: number; burst?: number }[] = [
    { read: 3 },
    { read: 2, burst: 7 },
    { read: 5, burst: 6 },
  ];
  expect(leastOfEach(runs)).toEqual({ read: 2, burst: 6 });
});
