import fc from 'fast-check';
import { FrontendConflicts } from '../../../src/application/status/deviations.js';
import { serviceOf } from '../../../src/domain/model/service-port-name.js';

const clash = (frontend: string, holder: string, loser: string) => ({ frontend, holder, loser });
const key = (name: string): string => `shop/${name}/tcp/`;
const clashOf = (frontend: string, holder: string, loser: string) => clash(frontend, key(holder), key(loser));
const lostBy = (conflicts: FrontendConflicts, name: string) =>
  conflicts.lostBy(key(name)).map(({ frontend, owner }) => `${frontend} belongs to ${serviceOf(owner)}`);

describe('FrontendConflicts', () => {
  it('knows what each loser goes without, and whose it is', () => {
    const conflicts = new FrontendConflicts();
    const clashes = [clashOf('f', 'a', 'b'), clashOf('g', 'a', 'b')];
    expect([...conflicts.update([key('a'), key('b')], clashes)].sort()).toEqual([key('a'), key('b')]);
    expect(lostBy(conflicts, 'b')).toEqual(['f belongs to shop/a', 'g belongs to shop/a']);
    expect(lostBy(conflicts, 'a')).toEqual([]);
  });

  it('forgets what changed, of holders and of losers, and nothing else', () => {
    const conflicts = new FrontendConflicts();
    conflicts.update(['a', 'b', 'c'].map(key), [
      clashOf('f', 'a', 'b'),
      clashOf('g', 'c', 'b'),
      clashOf('h', 'a', 'd'),
    ]);
    expect([...conflicts.update([key('a')], [])].sort()).toEqual(['a', 'b', 'd'].map(key));
    expect([lostBy(conflicts, 'b'), lostBy(conflicts, 'd')]).toEqual([['g belongs to shop/c'], []]);
    expect([...conflicts.update([key('b')], [])].sort()).toEqual(['b', 'c'].map(key));
    expect([lostBy(conflicts, 'b'), conflicts.isEmpty]).toEqual([[], true]);
  });

  it('agrees, after any updates, with claims of which the first by key holds each', () => {
    const names = fc.constantFrom('a', 'b', 'c', 'd', 'e');
    const updates = fc.array(
      fc.record({ name: names, claims: fc.uniqueArray(fc.constantFrom('f', 'g', 'h')) }),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(updates, (sequence) => {
        const conflicts = new FrontendConflicts();
        const claims = new Map<string, readonly string[]>();
        const claimantsOf = (frontend: string) =>
          [...claims].flatMap(([name, claimed]) => (claimed.includes(frontend) ? [name] : [])).sort();
        for (const { name, claims: claimed } of sequence) {
          claims.set(name, claimed);
          const clashes = claimed.flatMap((frontend) => {
            const [holder, ...losers] = claimantsOf(frontend);
            return losers.map((loser) => clashOf(frontend, holder!, loser));
          });
          conflicts.update([key(name)], clashes);
          for (const [each, all] of claims) {
            const lost = all.filter((frontend) => claimantsOf(frontend)[0] !== each);
            const texts = lost.map((frontend) => `${frontend} belongs to shop/${claimantsOf(frontend)[0]}`);
            expect([...lostBy(conflicts, each)].sort()).toEqual(texts.sort());
          }
        }
      }),
    );
  });
});
