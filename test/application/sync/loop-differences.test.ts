import type { RuleDifference } from '../../../src/domain/reconcile/rule-difference.js';
import { Bench } from './bench.js';

const line: RuleDifference = { sign: '-', text: 'rule' };

it('are not known before anything is programmed', async () => {
  await expect(new Bench().loop.differences()).rejects.toThrow('nothing has been programmed yet');
});

it('are what the backend tells; undefined if it cannot', async () => {
  const bench = await new Bench().begin('a');
  await expect(bench.loop.differences()).resolves.toBeUndefined();
  Object.assign(bench.backend, { differences: () => Promise.resolve([line]) });
  await expect(bench.loop.differences()).resolves.toEqual([line]);
});

it('are found between syncs: a change that comes meanwhile waits', async () => {
  const bench = await new Bench().begin('a');
  let finish = (_: readonly RuleDifference[]): void => {};
  Object.assign(bench.backend, {
    differences: () => new Promise<readonly RuleDifference[]>((resolve) => (finish = resolve)),
  });
  const asked = bench.loop.differences();
  await bench.settle();
  bench.change('b');
  await bench.clock.advanceAsync(10_000);
  expect(bench.syncs()).toEqual(['start a']);
  finish([line]);
  await expect(asked).resolves.toEqual([line]);
  await bench.clock.advanceAsync(10_000);
  expect(bench.syncs()).toEqual(['apply b']);
});

it('that cannot be found stop nothing', async () => {
  const bench = await new Bench().begin('a');
  Object.assign(bench.backend, { differences: () => Promise.reject(new Error('EPERM')) });
  await expect(bench.loop.differences()).rejects.toThrow('EPERM');
  bench.change('b');
  await bench.clock.advanceAsync(10_000);
  expect(bench.syncs()).toEqual(['start a', 'apply b']);
});
