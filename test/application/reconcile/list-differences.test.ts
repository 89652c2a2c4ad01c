import { listDifferences } from '../../../src/application/reconcile/reconciler.js';
import type { RuleDifference } from '../../../src/domain/reconcile/rule-difference.js';

const line: RuleDifference = { sign: '+', text: 'rule' };

it('gives the event loop its turns, however little is different', async () => {
  let turns = 0;
  let others = setImmediate(function next() {
    turns++;
    others = setImmediate(next);
  });
  function* lines(): Generator<RuleDifference | undefined> {
    for (let step = 0; step < 1_000; step++) yield step === 500 ? line : undefined;
  }
  expect(await listDifferences(lines())).toEqual([line]);
  clearImmediate(others);
  expect(turns).toBeGreaterThan(5);
  expect(turns).toBeLessThan(50);
});

it('ends at the next turn after it is aborted', async () => {
  let taken = 0;
  function* lines(): Generator<RuleDifference | undefined> {
    for (;;) {
      taken++;
      yield undefined;
    }
  }
  const ending = new AbortController();
  setImmediate(() => ending.abort(new Error('a change')));
  await expect(listDifferences(lines(), ending.signal)).rejects.toThrow('a change');
  expect(taken).toBeLessThan(10_000);
});
