import { Bench, keyOf } from './bench.js';

async function stopped(bench: Bench): Promise<void> {
  await bench.loop.stop();
  expect(bench.clock.pending).toBe(0);
  expect(bench.loop.inSync).toBe(false);
  bench.calls();
  bench.change('a');
  bench.loop.initialized();
  await bench.clock.advanceAsync(100_000);
  expect([bench.calls(), bench.clock.pending]).toEqual([[], 0]);
}

describe('stop', () => {
  it('before everything is listed', async () => {
    await stopped(new Bench());
  });

  it('when idle, twice', async () => {
    const bench = await new Bench().begin('a');
    await stopped(bench);
    await stopped(bench);
  });

  it('while a sync is scheduled', async () => {
    const bench = await new Bench({ minSyncPeriod: 1000 }).begin('a');
    bench.change('a');
    await stopped(bench);
  });

  it('when a sync is due', async () => {
    const bench = await new Bench().begin('a');
    bench.calls();
    bench.change('a');
    await bench.loop.stop();
    expect(bench.calls()).toEqual([]);
    await stopped(bench);
  });

  it('in a backoff', async () => {
    const bench = new Bench();
    bench.backend.failure = new Error('refused');
    await stopped(await bench.begin('a'));
  });

  it('while a service port waits for its next try', async () => {
    const bench = new Bench();
    bench.backend.poisoned.set(keyOf('a'), 'refused');
    await stopped(await bench.begin('a'));
  });

  it.each<[string, (bench: Bench) => void]>([
    ['works', () => undefined],
    ['fails as a whole', (bench) => (bench.backend.failure = new Error('refused'))],
    ['fails for a service port', (bench) => bench.backend.poisoned.set(keyOf('a'), 'refused')],
  ])('waits for the sync that is under way and %s', async (_, prepare) => {
    const bench = await new Bench().begin('a');
    prepare(bench);
    const release = bench.backend.hold();
    bench.change('a');
    await bench.settle();
    let ended = false;
    const stopping = bench.loop.stop().then(() => (ended = true));
    await bench.settle();
    expect(ended).toBe(false);
    release();
    await stopping;
    expect(bench.clock.pending).toBe(0);
    await stopped(bench);
  });

  it.each([undefined, new Error('no answer')])(
    'interrupts the verification that is under way, and waits for its end (%s)',
    async (failure) => {
      const bench = await new Bench().begin('a');
      const release = bench.backend.hold();
      bench.backend.failure = failure;
      bench.backend.findings.push({ written: 3 });
      await bench.clock.advanceAsync(1000);
      let ended = false;
      const stopping = bench.loop.stop().then(() => (ended = true));
      await bench.settle();
      expect(ended).toBe(false);
      release();
      await stopping;
      expect(bench.backend.findings).toHaveLength(1);
      await stopped(bench);
    },
  );

  it('while a verification that is due asks for a sync', async () => {
    const bench = await new Bench({ syncPeriod: 1000 }).begin('a');
    const release = bench.backend.hold();
    await bench.clock.advanceAsync(1000);
    const stopping = bench.loop.stop();
    release();
    await stopping;
    expect(bench.clock.pending).toBe(0);
    await stopped(bench);
  });
});
