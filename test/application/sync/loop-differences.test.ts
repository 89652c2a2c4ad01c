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

/** Comparisons that end when they are told to, or when their signal does, whichever is first. */
function holdComparisons(bench: Bench): ((found: readonly RuleDifference[]) => void)[] {
  const finish: ((found: readonly RuleDifference[]) => void)[] = [];
  Object.assign(bench.backend, {
    differences: (signal: AbortSignal) =>
      new Promise<readonly RuleDifference[]>((resolve, reject) => {
        finish.push(resolve);
        signal.addEventListener('abort', () => reject(signal.reason as Error));
      }),
  });
  return finish;
}

it('give way to a change, and are found after it', async () => {
  const bench = await new Bench().begin('a');
  const finish = holdComparisons(bench);
  const asked = bench.loop.differences();
  await bench.settle();
  bench.change('b');
  await bench.clock.advanceAsync(100);
  expect(bench.syncs()).toEqual(['start a', 'apply b']);
  expect(finish).toHaveLength(2);
  finish[1]!([line]);
  await expect(asked).resolves.toEqual([line]);
});

it('give way to a change that waits for the pause between syncs only when its time has come', async () => {
  const bench = await new Bench({ minSyncPeriod: 1_000 }).begin('a');
  const finish = holdComparisons(bench);
  void bench.loop.differences();
  await bench.settle();
  bench.change('b');
  await bench.clock.advanceAsync(900);
  expect(finish).toHaveLength(1);
  await bench.clock.advanceAsync(200);
  expect(bench.syncs()).toEqual(['start a', 'apply b']);
  expect(finish).toHaveLength(2);
});

it('give way for five seconds; then changes wait for them', async () => {
  const bench = await new Bench().begin('a');
  const finish = holdComparisons(bench);
  const asked = bench.loop.differences();
  await bench.clock.advanceAsync(4_900);
  bench.change('b');
  await bench.clock.advanceAsync(200);
  expect(bench.syncs()).toEqual(['start a', 'apply b']);
  bench.change('c');
  await bench.clock.advanceAsync(10_000);
  expect(bench.syncs()).toEqual([]);
  finish.at(-1)!([line]);
  await expect(asked).resolves.toEqual([line]);
  await bench.settle();
  expect(bench.syncs()).toEqual(['apply c']);
});

it('end when nobody waits for them any more, also before their turn, and keep nobody else from theirs', async () => {
  const bench = await new Bench().begin('a');
  const finish = holdComparisons(bench);
  const [one, other] = [new AbortController(), new AbortController()];
  const left = Promise.allSettled([bench.loop.differences(one.signal), bench.loop.differences(other.signal)]);
  const asked = bench.loop.differences();
  await bench.settle();
  expect(finish).toHaveLength(1);
  other.abort(new Error('left'));
  one.abort(new Error('left'));
  const gone = { status: 'rejected', reason: new Error('left') };
  expect(await left).toEqual([gone, gone]);
  await bench.settle();
  expect(finish).toHaveLength(2);
  finish[1]!([line]);
  await expect(asked).resolves.toEqual([line]);
});

it('end when the proxy stops', async () => {
  const bench = await new Bench().begin('a');
  holdComparisons(bench);
  const asked = [bench.loop.differences(), bench.loop.differences()];
  const outcomes = Promise.allSettled(asked);
  await bench.settle();
  await bench.loop.stop();
  const stopped = { status: 'rejected', reason: new Error('the proxy is stopping') };
  expect(await outcomes).toEqual([stopped, stopped]);
});

it('that cannot be found stop nothing', async () => {
  const bench = await new Bench().begin('a');
  Object.assign(bench.backend, { differences: () => Promise.reject(new Error('EPERM')) });
  await expect(bench.loop.differences()).rejects.toThrow('EPERM');
  bench.change('b');
  await bench.clock.advanceAsync(10_000);
  expect(bench.syncs()).toEqual(['start a', 'apply b']);
});
