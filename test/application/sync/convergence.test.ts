import fc from 'fast-check';
import { ForwardingTable } from '../../../src/domain/forwarding/forwarding-table.js';
import { Bench, keyOf } from './bench.js';

const name = fc.constantFrom('a', 'b', 'c');
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('change' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('remove' as const), name }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('initialized' as const) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('endpoints' as const),
      name,
      addresses: fc.subarray(['10.244.0.1', '10.244.0.2', '10.244.0.3']),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('move' as const), zone: fc.constantFrom('x', 'y') }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('poison' as const, 'cure' as const), name }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('break' as const, 'restore' as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constantFrom('node' as const, 'hold' as const, 'release' as const) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('wait' as const),
      ms: fc.constantFrom(0, 1, 20, 500, 1000, 7000, 60_000),
    }),
  },
);
const settings = fc.record({
  minSyncPeriod: fc.constantFrom(undefined, 0, 300, 5000),
  syncPeriod: fc.constantFrom(10_000, 30_000),
});

describe('after any sequence of changes, failures and pauses', () => {
  it('what is programmed is what a fresh start would program, every status says so, and the stop leaves no timer', async () => {
    await fc.assert(
      fc.asyncProperty(settings, fc.array(step, { maxLength: 30 }), async (periods, steps) => {
        const bench = new Bench(periods);
        let release = (): void => undefined;
        for (const each of steps) {
          if (each.do === 'change') bench.change(each.name);
          if (each.do === 'remove') bench.remove(each.name);
          if (each.do === 'initialized') bench.loop.initialized();
          if (each.do === 'endpoints') bench.setEndpoints(each.name, ...each.addresses);
          if (each.do === 'move') bench.moveTo(each.zone);
          if (each.do === 'poison') bench.backend.poisoned.set(keyOf(each.name), 'refused');
          if (each.do === 'cure') bench.backend.poisoned.delete(keyOf(each.name));
          if (each.do === 'break') bench.backend.failure = new Error('refused');
          if (each.do === 'restore') bench.backend.failure = undefined;
          if (each.do === 'node') {
            bench.loop.pending.nodeChanged();
            bench.loop.changed();
          }
          if (each.do === 'hold') {
            release();
            release = bench.backend.hold();
          }
          if (each.do === 'release') release();
          if (each.do === 'wait') await bench.clock.advanceAsync(each.ms);
        }
        release();
        bench.backend.poisoned.clear();
        bench.backend.failure = undefined;
        bench.loop.initialized();
        await bench.clock.advanceAsync(70_000);
        // A verification may have requested a sync a moment ago.
        if (!bench.loop.inSync) await bench.clock.advanceAsync(5000);
        expect(bench.loop.inSync).toBe(true);
        const fresh = new ForwardingTable();
        fresh.update(bench.state, bench.state.serviceKeys(), bench.context.forwarding);
        expect(bench.backend.programmed).toEqual(
          new Map([...fresh.entries()].map((entry) => [entry.key, entry])),
        );
        expect(new Set(bench.statuses.keys('IPv4'))).toEqual(new Set(bench.backend.programmed.keys()));
        for (const key of bench.statuses.keys('IPv4')) {
          expect(bench.statuses.get('IPv4', key)?.state).toBe('programmed');
        }
        await bench.loop.stop();
        expect(bench.clock.pending).toBe(0);
      }),
      { numRuns: 80 },
    );
  });
});

describe('whatever happens', () => {
  it('syncs keep minSyncPeriod between the end of one and the begin of the next', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(100, 1000),
        fc.array(step, { maxLength: 30 }),
        async (minSyncPeriod, steps) => {
          const bench = await new Bench({ minSyncPeriod }).begin('a');
          const times: number[] = [bench.clock.now()];
          bench.syncs();
          for (const each of steps) {
            if (each.do === 'change') bench.change(each.name);
            if (each.do === 'remove') bench.remove(each.name);
            if (each.do === 'break') bench.backend.failure = new Error('refused');
            if (each.do === 'restore') bench.backend.failure = undefined;
            for (let waited = 0; each.do === 'wait' && waited < Math.min(each.ms, 3000); waited += 10) {
              await bench.clock.advanceAsync(10);
              times.push(...bench.syncs().map(() => bench.clock.now()));
            }
          }
          for (const [index, time] of times.slice(1).entries()) {
            expect(time - times[index]!).toBeGreaterThanOrEqual(minSyncPeriod - 10);
          }
          await bench.loop.stop();
        },
      ),
      { numRuns: 30 },
    );
  });
});
