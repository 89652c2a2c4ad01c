import { Bench, keyOf, START } from './bench.js';

/** A node on which an earlier process has programmed a and b. */
async function benchAfter(...names: string[]): Promise<Bench> {
  const former = await new Bench().begin(...names);
  const bench = new Bench();
  for (const [key, entry] of former.backend.programmed) bench.backend.programmed.set(key, entry);
  return bench;
}

const withSlices = (bench: Bench, name: string): void => {
  bench.put(name);
  bench.setEndpoints(name, '10.244.1.1');
};

describe('What the source cannot read at a start', () => {
  it('may explain rules, so these stay until everything was read', async () => {
    const bench = await benchAfter('a', 'b');
    bench.unread.push('b.yaml:3: bad indentation');
    withSlices(bench, 'a');
    await bench.begin();
    expect([...bench.backend.programmed.keys()]).toEqual([keyOf('a'), keyOf('b')]);
    expect(bench.loop.unreadObjects).toEqual(['b.yaml:3: bad indentation']);
    expect(bench.logger.at('warn')).toMatchObject([
      { facts: { unread: 1, first: 'b.yaml:3: bad indentation' } },
    ]);
    bench.calls();
    let isComplete = false;
    void bench.loop.complete.then(() => (isComplete = true));
    await bench.clock.advanceAsync(5_000);
    expect([bench.syncs(), isComplete]).toEqual([[], false]);
    expect([bench.loop.inSync, bench.loop.isWaiting('shop/a')]).toEqual([true, false]);

    bench.unread.pop();
    expect([bench.loop.inSync, bench.loop.isWaiting('shop/a')]).toEqual([false, true]);
    await bench.clock.advanceAsync(3_000);
    expect([bench.syncs(), isComplete]).toEqual([['start a'], true]);
    expect([bench.loop.inSync, bench.loop.isWaiting('shop/a')]).toEqual([true, false]);
    expect([...bench.backend.programmed.keys()]).toEqual([keyOf('a')]);
    expect(bench.loop.unreadObjects).toEqual([]);
  });

  it('may hold the endpoints of a Service that has none: it keeps its rules until they are known', async () => {
    const bench = await benchAfter('a');
    const before = bench.backend.programmed.get(keyOf('a'));
    bench.unread.push('slices.yaml: EACCES');
    bench.put('a');
    await bench.begin();
    bench.change('a');
    await bench.clock.advanceAsync(100);
    expect(bench.backend.programmed.get(keyOf('a'))).toBe(before);
    bench.setEndpoints('a', '10.244.1.1');
    await bench.clock.advanceAsync(100);
    expect(bench.backend.programmed.get(keyOf('a'))).not.toBe(before);
    bench.unread.pop();
    await bench.clock.advanceAsync(3_000);
    expect(bench.loop.unreadObjects).toEqual([]);
  });

  it('holds back no Service that has no rules to lose, from the start or later', async () => {
    const bench = await benchAfter('a');
    bench.unread.push('slices.yaml: EACCES');
    bench.put('a');
    bench.put('fresh');
    await bench.begin();
    expect(bench.syncs()).toEqual(['start', 'apply fresh']);
    expect(bench.backend.programmed.get(keyOf('fresh'))!.endpoints.reachable).toEqual([]);
    bench.put('later');
    bench.change('later');
    await bench.clock.advanceAsync(100);
    expect(bench.syncs()).toEqual(['apply later']);
    expect([...bench.backend.programmed.keys()].sort()).toEqual(['a', 'fresh', 'later'].map(keyOf));
    bench.unread.pop();
    await bench.clock.advanceAsync(3_000);
    expect(bench.syncs()).toEqual(['start fresh later a']);
  });

  it('keeps rules as what is not valid does; but that is no reason to wait for more', async () => {
    const bench = await benchAfter('a', 'b');
    bench.invalid.push('Service default/b: spec.ports[0].port: 0');
    withSlices(bench, 'a');
    await bench.begin();
    expect([...bench.backend.programmed.keys()]).toEqual([keyOf('a'), keyOf('b')]);
    expect([bench.loop.unreadObjects, bench.loop.unreadSources]).toEqual([bench.invalid, []]);
    let isComplete = false;
    void bench.loop.complete.then(() => (isComplete = true));
    await bench.clock.advanceAsync(5_000);
    expect(isComplete).toBe(true);
    bench.invalid.pop();
    await bench.clock.advanceAsync(3_000);
    expect([...bench.backend.programmed.keys()]).toEqual([keyOf('a')]);
  });

  it('is a matter of the start: what fails later was known before', async () => {
    const bench = new Bench();
    withSlices(bench, 'a');
    await bench.begin();
    bench.unread.push('a.yaml:1: bad indentation');
    bench.backend.failure = new Error('gone');
    bench.change('a');
    await bench.clock.advanceAsync(100);
    bench.backend.failure = undefined;
    bench.remove('a');
    await bench.clock.advanceAsync(60_000);
    expect(bench.backend.programmed.size).toBe(0);
    expect(bench.loop.unreadObjects).toEqual([]);
    expect(bench.clock.now()).toBeGreaterThan(START);
  });
});
