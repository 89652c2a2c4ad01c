import { Bench, keyOf } from './bench.js';

const told = (bench: Bench) => bench.logger.lines.map(({ level, message, facts }) => [level, message, facts]);

async function serving(...names: string[]): Promise<Bench> {
  const bench = await new Bench({ minSyncPeriod: 1000 }).begin(...names);
  await bench.clock.advanceAsync(1000);
  bench.logger.clear();
  return bench;
}

describe('the log of changes', () => {
  it('logs the outcome for each service port, and how long it took since the event', async () => {
    const bench = await serving('a', 'b', 'c');
    bench.change('a');
    await bench.settle();
    bench.logger.clear();
    bench.setEndpoints('a', '10.244.0.1', '10.244.0.2');
    await bench.clock.advanceAsync(400);
    bench.backend.poisoned.set(keyOf('b'), 'EINVAL');
    bench.change('b');
    bench.remove('c');
    await bench.clock.advanceAsync(600);
    const of = (name: string) => ({ family: 'IPv4', service: keyOf(name) });
    expect(told(bench)).toEqual([
      [
        'debug',
        'cannot program the service port; it keeps its rules in the kernel',
        { ...of('b'), reason: 'EINVAL', attempts: 1 },
      ],
      ['debug', 'service port programmed', { ...of('a'), msSinceEvent: 1000, endpoints: 2 }],
      ['debug', 'service port removed', { ...of('c'), msSinceEvent: 1000 }],
      [
        'debug',
        'changes programmed',
        { family: 'IPv4', servicePorts: 3, failed: 1, written: 2, ms: 0, msSinceEvent: 1000 },
      ],
    ]);
  });

  it('is silent about what changes nothing', async () => {
    const bench = await serving('a');
    bench.loop.pending.nodeChanged();
    bench.loop.changed();
    await bench.settle();
    await bench.clock.advanceAsync(120_000);
    expect(told(bench)).toEqual([]);
  });
});
