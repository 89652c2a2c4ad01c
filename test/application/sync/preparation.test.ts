import { Bench } from './bench.js';

/** Before anything is listed: the own Node is known, and these Services with an endpoint each. */
async function filling(...names: string[]): Promise<Bench> {
  const bench = new Bench();
  bench.showNode();
  for (const name of names) {
    bench.change(name);
    bench.setEndpoints(name, '10.244.0.1');
  }
  await bench.clock.advanceAsync(1);
  return bench;
}

describe('before everything is listed', () => {
  it('hands Services over with their endpoints, once, and computes them no more at the start', async () => {
    const bench = await filling('a', 'b');
    expect(bench.calls()).toEqual(['prepare a b']);
    const [a] = bench.sync.table.entriesOf('shop/a');
    await bench.begin();
    expect(bench.calls()).toEqual(['start a b']);
    expect(bench.backend.programmed.get(a!.key)).toBe(a);
  });

  it('leaves to the start what has no endpoints yet', async () => {
    const bench = await filling('a');
    bench.calls();
    bench.change('b');
    await bench.clock.advanceAsync(1);
    expect(bench.calls()).toEqual(['prepare']);
    bench.setEndpoints('b', '10.244.0.2');
    await bench.clock.advanceAsync(1);
    expect(bench.calls()).toEqual(['prepare b']);
    bench.put('c');
    await bench.begin();
    expect(bench.calls()).toEqual(['start a b c']);
  });

  it('waits for the own Node', async () => {
    const bench = new Bench();
    bench.change('a');
    bench.setEndpoints('a', '10.244.0.1');
    await bench.clock.advanceAsync(1000);
    expect(bench.calls()).toEqual([]);
    bench.showNode();
    await bench.clock.advanceAsync(1);
    expect(bench.calls()).toEqual(['prepare a']);
  });

  it('lets other things have their turn: a few Services at a time', async () => {
    const names = Array.from({ length: 120 }, (_, index) => `s${index}`);
    const bench = await filling(...names);
    const calls = bench.calls().map((call) => call.split(' ').slice(1));
    expect(calls.map(({ length }) => length)).toEqual([50, 50, 20]);
    expect(calls.flat()).toEqual(names);
  });

  it('what changed or went since is computed at the start', async () => {
    const bench = await filling('a', 'b', 'c');
    bench.setEndpoints('a', '10.244.0.1', '10.244.0.2');
    bench.remove('b');
    await bench.begin();
    expect(bench.syncs()).toEqual(['start a c']);
    const [programmed] = bench.backend.programmed.values();
    expect(programmed!.endpoints.cluster).toHaveLength(2);
  });

  it('forgets a Service that went, with its endpoints', async () => {
    const bench = await filling('a', 'b');
    bench.state.removeSlice('shop', 'b-1');
    bench.remove('b');
    await bench.clock.advanceAsync(1);
    bench.calls();
    await bench.begin();
    expect(bench.syncs()).toEqual(['start a']);
    expect(bench.sync.table.size).toBe(1);
  });

  it('computes everything anew when the Node turns out to be otherwise', async () => {
    const bench = await filling('a');
    const [before] = bench.sync.table.entriesOf('shop/a');
    bench.moveTo('elsewhere');
    await bench.begin();
    expect([...bench.backend.programmed.values()][0]).not.toBe(before);
  });

  it('says of no Service that it is done', async () => {
    const bench = await filling('a');
    expect(bench.loop.isWaiting('shop/a')).toBe(true);
    await bench.begin();
    expect(bench.loop.isWaiting('shop/a')).toBe(false);
  });

  it('starts all the same when preparing fails, and says so once', async () => {
    const bench = new Bench();
    bench.backend.prepare = () => Promise.reject(new Error('no room'));
    bench.showNode();
    for (const name of ['a', 'b']) {
      bench.change(name);
      bench.setEndpoints(name, '10.244.0.1');
      await bench.clock.advanceAsync(1);
    }
    expect([bench.logger.at('warn').length, bench.logger.at('error')]).toEqual([1, []]);
    await bench.begin();
    expect(bench.syncs()).toEqual(['start a b']);
  });

  it('prepares nothing for a backend that gains nothing by it', async () => {
    const bench = new Bench();
    Object.defineProperty(bench.backend, 'prepare', { value: undefined });
    bench.showNode();
    bench.change('a');
    bench.setEndpoints('a', '10.244.0.1');
    await bench.clock.advanceAsync(1000);
    expect([bench.calls(), bench.sync.table.size]).toEqual([[], 0]);
  });

  it('ends when it is stopped', async () => {
    const bench = await filling('a');
    bench.change('a');
    await bench.loop.stop();
    bench.calls();
    await bench.clock.advanceAsync(1000);
    expect([bench.calls(), bench.clock.pending]).toEqual([[], 0]);
  });
});
