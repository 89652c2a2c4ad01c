import { serviceOf } from '../../../src/domain/model/service-port-name.js';
import { Bench, keyOf, START } from './bench.js';
import { SYNC_REPORT } from '../../support/sync-report.js';

describe('start', () => {
  it('writes nothing before everything is listed, whatever changes', async () => {
    const bench = new Bench();
    bench.change('a');
    await bench.clock.advanceAsync(100_000);
    expect(bench.syncs()).toEqual([]);
    expect(bench.observer.calls).toEqual([]);
    expect([bench.clock.pending, bench.loop.inSync]).toEqual([0, false]);
  });

  it('lets every Service wait until it is programmed, and later those that changed', async () => {
    const bench = new Bench();
    const waiting = () => ['a', 'b'].filter((name) => bench.loop.isWaiting(serviceOf(keyOf(name))));
    expect(waiting()).toEqual(['a', 'b']);
    let release = bench.backend.hold();
    const begun = bench.begin('a', 'b');
    await bench.settle();
    expect(waiting()).toEqual(['a', 'b']);
    release();
    await begun;
    await bench.settle();
    expect(waiting()).toEqual([]);
    release = bench.backend.hold();
    bench.change('a');
    expect(waiting()).toEqual(['a']);
    await bench.settle();
    expect(waiting()).toEqual(['a']);
    release();
    await bench.settle();
    expect(waiting()).toEqual([]);
  });

  it('then syncs everything at once, and reports it', async () => {
    const bench = await new Bench().begin('a', 'b');
    expect(bench.syncs()).toEqual(['start a b']);
    expect(bench.observer.calls).toEqual([
      'loopStarted IPv4',
      'queued IPv4',
      'dequeued IPv4',
      'finished IPv4',
    ]);
    expect(bench.observer.reports).toMatchObject([
      {
        ...SYNC_REPORT,
        written: 2,
        everyService: true,
        changed: ['a', 'b'].map((name) => ({ key: keyOf(name) })),
      },
    ]);
    expect(bench.refreshes).toEqual([true]);
    expect(bench.loop.inSync).toBe(true);
    await expect(bench.loop.firstAttempt).resolves.toBeUndefined();
  });

  it('is told once', async () => {
    const bench = await new Bench().begin('a');
    bench.loop.initialized();
    await bench.settle();
    expect(bench.syncs()).toEqual(['start a']);
    expect(bench.observer.calls.filter((call) => call.startsWith('loopStarted'))).toHaveLength(1);
  });

  it('syncs an empty cluster too', async () => {
    expect((await new Bench().begin()).calls()).toEqual(['start']);
  });

  it('reports why the first attempt failed, and continues', async () => {
    const bench = new Bench();
    bench.backend.failure = new Error('no permission');
    await bench.begin('a');
    await expect(bench.loop.firstAttempt).resolves.toBe('IPv4: no permission');
    bench.backend.failure = undefined;
    await bench.clock.advanceAsync(1000);
    await expect(bench.loop.firstAttempt).resolves.toBe('IPv4: no permission');
    expect(bench.loop.inSync).toBe(true);
  });
});

describe('changes', () => {
  it('when idle are programmed without any timer', async () => {
    const bench = await new Bench().begin('a', 'b');
    bench.syncs();
    bench.change('b');
    expect(bench.loop.inSync).toBe(false);
    await bench.settle();
    expect(bench.syncs()).toEqual(['apply b']);
    expect(bench.clock.now()).toBe(START);
    expect(bench.loop.inSync).toBe(true);
    expect(bench.refreshes).toEqual([true, false]);
  });

  it('of one burst are one apply', async () => {
    const bench = await new Bench().begin('a', 'b', 'c');
    bench.syncs();
    for (const name of ['a', 'c', 'a']) bench.change(name);
    bench.remove('b');
    await bench.settle();
    expect(bench.syncs()).toEqual(['apply a c b']);
    expect([...bench.backend.programmed.keys()]).toEqual([keyOf('a'), keyOf('c')]);
  });

  it('while a sync is under way wait for it, and go together', async () => {
    const bench = await new Bench().begin('a', 'b', 'c');
    bench.syncs();
    const release = bench.backend.hold();
    bench.change('a');
    await bench.settle();
    bench.change('b');
    bench.change('c');
    await bench.settle();
    expect(bench.syncs()).toEqual(['apply a']);
    release();
    await bench.settle();
    expect(bench.syncs()).toEqual(['apply b c']);
  });

  it.each([1000, 250])(
    'wait for minSyncPeriod (%i ms) after the end of the last sync, exactly',
    async (period) => {
      const bench = await new Bench({ minSyncPeriod: period }).begin('a', 'b');
      bench.syncs();
      bench.change('a');
      await bench.clock.advanceAsync(period / 2);
      bench.change('b');
      await bench.clock.advanceAsync(period / 2 - 1);
      expect(bench.syncs()).toEqual([]);
      await bench.clock.advanceAsync(1);
      expect(bench.syncs()).toEqual(['apply a b']);
      await bench.clock.advanceAsync(period);
      bench.syncs();
      bench.change('a');
      await bench.settle();
      expect(bench.syncs()).toEqual(['apply a']);
    },
  );

  it.each([
    [7, 7],
    [20, 20],
    [5000, 20],
  ])('without minSyncPeriod pause as long as the last sync (%i ms), at most 20 ms', async (took, pause) => {
    const bench = await new Bench().begin('a');
    const release = bench.backend.hold();
    bench.change('a');
    await bench.settle();
    await bench.clock.advanceAsync(took);
    release();
    await bench.settle();
    bench.syncs();
    bench.change('a');
    await bench.clock.advanceAsync(pause - 1);
    expect(bench.syncs()).toEqual([]);
    await bench.clock.advanceAsync(1);
    expect(bench.syncs()).toEqual(['apply a']);
  });

  it.each([-3_600_000, 3_600_000])(
    'do not wait for a wall clock that was set by %i ms',
    async (milliseconds) => {
      const bench = await new Bench({ minSyncPeriod: 1000 }).begin('a');
      bench.syncs();
      bench.clock.set(milliseconds);
      bench.change('a');
      await bench.clock.advanceAsync(999);
      expect(bench.syncs()).toEqual([]);
      await bench.clock.advanceAsync(1);
      expect(bench.syncs()).toEqual(['apply a']);
    },
  );

  it('of the node make it read the context again', async () => {
    const bench = await new Bench().begin('a');
    bench.syncs();
    bench.loop.pending.nodeChanged();
    bench.loop.changed();
    await bench.settle();
    expect(bench.syncs()).toEqual(['apply']);
    expect(bench.refreshes).toEqual([true, true]);
    bench.loop.pending.everyServiceChanged();
    bench.loop.changed();
    await bench.settle();
    expect(bench.syncs()).toEqual(['apply a']);
  });
});

describe('a sync that fails as a whole', () => {
  async function failing(periods = {}): Promise<Bench> {
    const bench = await new Bench(periods).begin('a', 'b');
    bench.backend.failure = new Error('refused');
    bench.change('a');
    await bench.settle();
    expect(bench.syncs()).toEqual(['start a b', 'apply a']);
    bench.observer.take();
    return bench;
  }

  it('is reported with the time that it took', async () => {
    const bench = await new Bench().begin('a');
    const release = bench.backend.hold();
    bench.change('a');
    await bench.settle();
    bench.backend.failure = new Error('refused');
    bench.observer.take();
    await bench.clock.advanceAsync(1500);
    release();
    await bench.settle();
    expect(bench.observer.reports.map(({ ok, seconds }) => [ok, seconds])).toContainEqual([false, 1.5]);
  });

  it('is reported and repeated in full after 1, 2, 4 … s, at most the sync period', async () => {
    const bench = await failing({ syncPeriod: 5000 });
    expect(bench.observer.reports.at(-1)).toMatchObject({ ok: false, full: false, written: 0 });
    expect(bench.logger.at('error')).toHaveLength(1);
    expect(bench.loop.inSync).toBe(false);
    for (const delay of [1000, 2000, 4000, 5000, 5000]) {
      await bench.clock.advanceAsync(delay - 1);
      expect(bench.syncs()).toEqual([]);
      await bench.clock.advanceAsync(1);
      expect(bench.syncs()).toEqual(['start a b']);
    }
    bench.backend.failure = undefined;
    await bench.clock.advanceAsync(5000);
    expect(bench.syncs()).toEqual(['start a b']);
    expect(bench.observer.reports.at(-1)).toMatchObject({ ok: true, full: true });
    expect(bench.loop.inSync).toBe(true);
    bench.change('b');
    await bench.settle();
    expect(bench.syncs()).toEqual(['apply b']);
  });

  it('restarts its back-off after a success', async () => {
    const bench = await failing();
    await bench.clock.advanceAsync(3000);
    bench.backend.failure = undefined;
    await bench.clock.advanceAsync(4000);
    bench.syncs();
    bench.backend.failure = new Error('again');
    bench.change('a');
    await bench.settle();
    bench.syncs();
    await bench.clock.advanceAsync(1000);
    expect(bench.syncs()).toEqual(['start a b']);
  });

  it('is repeated sooner when another change comes', async () => {
    const bench = await failing();
    await bench.clock.advanceAsync(300);
    bench.backend.failure = undefined;
    bench.change('b');
    await bench.settle();
    expect(bench.syncs()).toEqual(['start a b']);
    await bench.clock.advanceAsync(700);
    expect(bench.syncs()).toEqual([]);
  });

  it('is repeated a second later, too, when many changes come at once', async () => {
    const bench = await failing();
    for (let change = 0; change < 5; change++) {
      bench.change('b');
      await bench.settle();
    }
    expect(bench.syncs()).toHaveLength(5);
    await bench.clock.advanceAsync(1000);
    expect(bench.syncs()).toEqual(['start a b']);
    await bench.clock.advanceAsync(2000);
    expect(bench.syncs()).toEqual(['start a b']);
  });

  it('but not before minSyncPeriod', async () => {
    const bench = await new Bench({ minSyncPeriod: 400 }).begin('a');
    await bench.clock.advanceAsync(400);
    bench.backend.failure = new Error('refused');
    bench.change('a');
    await bench.settle();
    bench.syncs();
    bench.change('a');
    await bench.clock.advanceAsync(399);
    expect(bench.syncs()).toEqual([]);
    await bench.clock.advanceAsync(1);
    expect(bench.syncs()).toEqual(['start a']);
  });

  it('is not repeated for each change of a burst', async () => {
    const bench = await failing();
    await bench.clock.advanceAsync(300);
    for (const name of ['a', 'b', 'a', 'b']) bench.change(name);
    await bench.settle();
    expect(bench.syncs()).toEqual(['start a b']);
    await bench.clock.advanceAsync(1299);
    expect(bench.syncs()).toEqual([]);
    await bench.clock.advanceAsync(1);
    expect(bench.syncs()).toEqual(['start a b']);
    await bench.loop.stop();
    expect(bench.clock.pending).toBe(0);
  });

  it('is not verified', async () => {
    const bench = await failing();
    await bench.clock.advanceAsync(20_000);
    expect(bench.calls().filter((call) => call === 'quick' || call === 'full')).toEqual([]);
  });
});

describe('latency of network programming (docs/internals/spec/model.md §8)', () => {
  it('is observed once for each trigger time that a sync carried', async () => {
    const bench = await new Bench({ minSyncPeriod: 1000 }).begin('a');
    bench.loop.pending.triggered('shop/a', START + 100);
    bench.change('a');
    bench.loop.pending.triggered('shop/a', START + 200);
    await bench.clock.advanceAsync(1000);
    expect(bench.observer.reports.at(-1)?.programmingLatencies).toEqual([0.9, 0.8]);
    bench.change('a');
    await bench.clock.advanceAsync(1000);
    expect(bench.observer.reports.at(-1)?.programmingLatencies).toEqual([]);
  });

  it('ends with the sync that succeeds, when others have failed before', async () => {
    const bench = await new Bench().begin('a');
    bench.backend.failure = new Error('refused');
    bench.loop.pending.triggered('shop/a', START);
    bench.change('a');
    await bench.settle();
    bench.backend.failure = undefined;
    await bench.clock.advanceAsync(1000);
    expect(bench.observer.reports.map(({ ok }) => ok)).toEqual([true, false, true]);
    expect(bench.observer.reports.map((report) => report.programmingLatencies)).toEqual([[], [], [1]]);
  });
});
