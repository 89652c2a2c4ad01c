import fc from 'fast-check';
import { Claims, isUnexplained, unexplainedOwner, Claimants } from '../../../src/domain/reconcile/claims.js';
const owner = fc.oneof(
  { weight: 6, arbitrary: fc.integer({ min: 0, max: 30 }).map((number) => `shop/s${number}/tcp/`) },
  { weight: 1, arbitrary: fc.constantFrom('x', 'y').map(unexplainedOwner) },
);
const step = fc.record({
  id: fc.constantFrom('a', 'b'),
  owner,
  claims: fc.boolean(),
  givesWay: fc.boolean(),
});

describe('Claims', () => {
  it('are what a sorted list of the claimants says, after any changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const claims = new Claims();
        const model = new Map<string, string[]>([
          ['a', []],
          ['b', []],
        ]);
        for (const { id, owner, claims: comes, givesWay } of steps) {
          const before = model.get(id)!;
          const ends = comes && givesWay && !isUnexplained(owner);
          const others = before.filter((other) => other !== owner && !(ends && isUnexplained(other)));
          const after = comes ? [...others, owner].sort() : others;
          model.set(id, after);
          const change = comes ? claims.claim(id, owner, givesWay) : claims.release(id, owner);
          expect(change).toEqual({ before: before[0], after: after[0] });
          expect(claims.ownerOf(id)).toBe(after[0]);
          expect(claims.claimants(id)).toEqual(after);
        }
        expect(claims.isContested).toBe([...model.values()].some((claimants) => claimants.length > 1));
      }),
    );
  });

  it('keep no claimants that come and go again and again', () => {
    const claims = new Claims();
    claims.claim('a', 'shop/a/tcp/');
    claims.claim('a', 'shop/b/tcp/');
    for (let round = 0; round < 1000; round++) {
      claims.claim('a', `shop/c${round}/tcp/`);
      claims.release('a', `shop/c${round}/tcp/`);
    }
    expect(
      JSON.stringify([...(claims as unknown as { claimantsOf: Map<string, object> }).claimantsOf]).length,
    ).toBeLessThan(500);
    claims.claim('a', 'shop/d/tcp/');
    for (const former of ['shop/a/tcp/', 'shop/b/tcp/']) claims.release('a', former);
    expect(claims.ownerOf('a')).toBe('shop/d/tcp/');
  });
});

const claimant = fc.integer({ min: 0, max: 12 }).map((number) => `shop/s${number}/tcp/`);
const claimantStep = fc.oneof(
  { weight: 3, arbitrary: fc.record({ owner: claimant, rank: fc.constantFrom('', '0', '0a', '1', '2') }) },
  { weight: 2, arbitrary: fc.record({ owner: claimant, rank: fc.constant(undefined) }) },
);

describe('Claimants', () => {
  it('are in the order of a sorted list, whatever comes, goes and gets another rank', () => {
    fc.assert(
      fc.property(fc.array(claimantStep, { maxLength: 300 }), fc.boolean(), (steps, looksAtFirst) => {
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
