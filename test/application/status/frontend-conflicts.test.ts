import fc from 'fast-check';
import { FrontendConflicts } from '../../../src/application/status/frontend-conflicts.js';

const clash = (frontend: string, holder: string, loser: string) => ({ frontend, holder, loser });

describe('FrontendConflicts', () => {
  it('notes what each loser goes without', () => {
    const conflicts = new FrontendConflicts();
    expect([...conflicts.update(['a', 'b'], [clash('f', 'a', 'b'), clash('g', 'a', 'b')])]).toEqual(['b']);
    expect(conflicts.note('b')).toBe('f belongs to a; g belongs to a');
    expect(conflicts.note('a')).toBeUndefined();
  });

  it('forgets what changed, of holders and of losers, and nothing else', () => {
    const conflicts = new FrontendConflicts();
    conflicts.update(['a', 'b', 'c'], [clash('f', 'a', 'b'), clash('g', 'c', 'b'), clash('h', 'a', 'd')]);
    expect([...conflicts.update(['a'], [])].sort()).toEqual(['b', 'd']);
    expect([conflicts.note('b'), conflicts.note('d')]).toEqual(['g belongs to c', undefined]);
    expect([...conflicts.update(['b'], [])]).toEqual(['b']);
    expect(conflicts.note('b')).toBeUndefined();
  });

  it('reflects the latest update of each pair', () => {
    const keys = fc.constantFrom('a', 'b', 'c', 'd');
    const updates = fc.array(fc.record({ key: keys, others: fc.uniqueArray(keys) }), { maxLength: 20 });
    fc.assert(
      fc.property(updates, (sequence) => {
        const conflicts = new FrontendConflicts();
        const expected = new Map<string, string>();
        for (const { key, others } of sequence) {
          // The first in order holds; each pair has a frontend of its own.
          const clashes = others
            .filter((other) => other !== key)
            .map((other) => [key, other].sort() as [string, string])
            .map(([holder, loser]) => clash(`${holder}${loser}`, holder, loser));
          conflicts.update([key], clashes);
          for (const [frontend] of [...expected]) if (frontend.includes(key)) expected.delete(frontend);
          for (const { frontend, holder } of clashes) expected.set(frontend, holder);
        }
        for (const loser of ['a', 'b', 'c', 'd']) {
          const lost = [...expected].filter(([frontend]) => frontend.endsWith(loser));
          const notes = lost.map(([frontend, holder]) => `${frontend} belongs to ${holder}`).sort();
          expect((conflicts.note(loser) ?? '').split('; ').filter(Boolean).sort()).toEqual(notes);
        }
      }),
    );
  });
});
