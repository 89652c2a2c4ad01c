import fc from 'fast-check';
import { maglevTable } from '../../../src/domain/balancing/slots.js';

const SIZE = 16_381;

const names = (count: number, from = 0): string[] =>
  Array.from(
    { length: count },
    (_, index) => `10.244.${(from + index) >> 8}.${(from + index) & 255}:8080`,
  ).sort();

const equal = (list: readonly string[]): number[] => list.map(() => 1);

/** The name of each slot's endpoint. */
function table(list: readonly string[], weights = equal(list), size = SIZE): readonly string[] {
  return Array.from(maglevTable(list, weights, size), (place) => list[place]!);
}

const counts = (slots: readonly string[], list: readonly string[]): number[] =>
  list.map((name) => slots.filter((each) => each === name).length);

/** The share of slots that have another endpoint. */
const moved = (before: readonly string[], after: readonly string[]): number =>
  before.filter((name, slot) => name !== after[slot]).length / before.length;

describe("the table of Maglev's paper", () => {
  it('fills slots in turns, each endpoint along its own order', () => {
    const list = names(3);
    const slots = maglevTable(list, [1, 1, 1], 7);
    const sorted = Array.from(slots).sort();
    expect(sorted).toEqual([0, 0, 0, 1, 1, 2, 2]);
  });

  it.each([1, 2, 3, 7, 24])('gives %i endpoints equal shares, within one slot', (count) => {
    const list = names(count);
    const each = counts(table(list), list);
    expect(Math.max(...each) - Math.min(...each)).toBeLessThanOrEqual(1);
  });

  it('gives endpoints shares by weight, within two slots', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 2, maxLength: 12 }), (weights) => {
        const list = names(weights.length);
        const total = weights.reduce((sum, weight) => sum + weight);
        counts(table(list, weights, 4093), list).forEach((count, place) => {
          expect(Math.abs(count - (4093 * weights[place]!) / total)).toBeLessThanOrEqual(
            2 + weights.length / 2,
          );
        });
      }),
      { numRuns: 50 },
    );
  });

  // The paper's figure 12 has the same for its sizes: hardly more than the share itself.
  it.each([
    [2, SIZE],
    [5, SIZE],
    [20, SIZE],
    [24, SIZE],
    [25, 65_521],
    [300, 65_521],
  ])('of %i endpoints one goes: at most one percent moves beyond its share (%i slots)', (count, size) => {
    const list = names(count);
    const before = table(list, equal(list), size);
    for (const gone of [0, count >> 1, count - 1]) {
      const left = list.filter((_, place) => place !== gone);
      const beyond = moved(before, table(left, equal(left), size)) - 1 / count;
      expect(beyond).toBeLessThan(0.01);
    }
  });

  it('comes back as it was when an endpoint comes back', () => {
    const list = names(9);
    table(list.slice(1));
    expect(table(list)).toEqual(table(list.slice()));
  });

  it('moves little more than what a weight changes', () => {
    const list = names(10);
    const weights = equal(list).with(3, 2);
    const share = 2 / 11 - 1 / 10;
    expect(moved(table(list), table(list, weights)) - share).toBeLessThan(0.02);
  });
});
