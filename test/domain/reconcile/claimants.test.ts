import fc from 'fast-check';
import { Claimants } from '../../../src/domain/reconcile/claims.js';

const owner = fc.integer({ min: 0, max: 12 }).map((number) => `shop/s${number}/tcp/`);
const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ owner, rank: fc.constantFrom('', '0', '0a', '1', '2') }) },
  { weight: 2, arbitrary: fc.record({ owner, rank: fc.constant(undefined) }) },
);

describe('Claimants', () => {
  it('are in the order of a sorted list, whatever comes, goes and gets another rank', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), fc.boolean(), (steps, looksAtFirst) => {
        const claimants = new Claimants();
        const model = new Map<string, string>();
        const sorted = (): string[] =>
          [...model]
            .sort(([a, rankOfA], [b, rankOfB]) => (`${rankOfA}\0${a}` < `${rankOfB}\0${b}` ? -1 : 1))
            .map(([key]) => key);
        for (const { owner, rank } of steps) {
          if (rank === undefined) {
            claimants.delete(owner);
            model.delete(owner);
          } else {
            claimants.add(owner, rank);
            model.set(owner, rank);
          }
          expect(claimants.size).toBe(model.size);
          expect(claimants.has(owner)).toBe(model.has(owner));
          if (looksAtFirst) expect(claimants.first).toBe(sorted()[0]);
        }
        expect(claimants.sorted()).toEqual(sorted());
        // In the order in which they are served when those before them leave.
        for (const next of sorted()) {
          expect(claimants.first).toBe(next);
          claimants.delete(next);
        }
        expect(claimants.first).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});
