import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { ScriptedSource } from '../../../src/testing/fakes/scripted-source.js';
import { ObjectReports, rawName } from '../../../src/application/use-cases/object-reports.js';
import { rawService, rawSlice } from '../../support/objects.js';
import { Bench } from './bench.js';

describe('ClusterEvents', () => {
  it('waits for the lists it needs, then reports each that arrives', async () => {
    const bench = new Bench();
    const { events } = bench;
    expect(events.missing).toEqual(['Service', 'EndpointSlice']);
    events.synced('Node');
    events.synced('Service');
    events.synced('Service');
    expect([events.missing, bench.initialized]).toEqual([['EndpointSlice'], 0]);
    let complete = false;
    void events.complete.then(() => (complete = true));
    await Promise.resolve();
    expect(complete).toBe(false);
    events.synced('EndpointSlice');
    expect([events.missing, bench.initialized]).toEqual([[], 0]);
    events.synced('ServiceCIDR');
    await events.complete;
    expect(bench.initialized).toBe(1);
  });

  it('waits a second for the lists that it wants, and no longer', () => {
    const bench = new Bench();
    const { events, clock } = bench;
    for (const kind of ['Service', 'EndpointSlice', 'Service'] as const) {
      events.synced(kind);
      clock.advance(499);
    }
    expect(bench.initialized).toBe(0);
    clock.advance(2);
    expect(bench.initialized).toBe(1);
    events.synced('ServiceCIDR');
    expect(clock.pending).toBe(0);
  });

  it('waits for nothing any more once it is stopped', () => {
    const bench = new Bench();
    const { events, clock } = bench;
    events.synced('Service');
    events.synced('EndpointSlice');
    expect(clock.pending).toBe(1);
    events.stop();
    expect(clock.pending).toBe(0);
    clock.advance(5_000);
    expect(bench.initialized).toBe(0);
  });

  it('hands each object to the use case of its kind, and counts', async () => {
    const bench = new Bench();
    const source = new ScriptedSource()
      .apply('Service', rawService())
      .apply('EndpointSlice', rawSlice())
      .synced();
    await source.start(bench.events, new AbortController().signal);
    expect([[...bench.state.serviceKeys()].length, bench.endpoints()]).toEqual([1, ['10.244.1.5:8080']]);
    expect(bench.initialized).toBeGreaterThan(0);
    source.delete('Service', { namespace: 'shop', name: 'cart' });
    expect([[...bench.state.serviceKeys()].length, bench.events.eventCount]).toEqual([0, 3]);
  });
});

describe('ObjectReports', () => {
  it('keeps kinds and objects apart, and forgets what was deleted', () => {
    const logger = new MemoryLogger();
    const reports = new ObjectReports(logger, new FakeClock());
    reports.report('Service', 'a/b', ['bad'], false);
    reports.report('EndpointSlice', 'a/b', ['bad'], false);
    reports.report('Service', 'a/c', ['bad'], true);
    expect(logger.lines.map(({ level }) => level)).toEqual(['error', 'error', 'warn']);
    expect(reports.rejected).toEqual(['Service a/b: bad', 'EndpointSlice a/b: bad']);
    reports.forget('Service', 'a/b');
    expect(reports.rejected).toEqual(['EndpointSlice a/b: bad']);
    reports.report('Service', 'a/b', ['bad'], false);
    expect(logger.lines).toHaveLength(4);
  });

  it('an object that becomes usable with the same complaint is not rejected any more', () => {
    const reports = new ObjectReports(new MemoryLogger(), new FakeClock());
    reports.report('Service', 'a/b', ['bad'], false);
    reports.report('Service', 'a/b', ['bad'], true);
    expect(reports.rejected).toEqual([]);
  });

  it('counts what is ignored by kind, also what the source cannot read', () => {
    const unread = ['b.yaml:1: Service a/d: no ports', 'c.yaml:3: bad indentation'];
    const reports = new ObjectReports(new MemoryLogger(), new FakeClock(), () => unread);
    reports.report('Service', 'a/b', ['bad'], false);
    reports.report('Service', 'a/c', ['bad'], true);
    reports.report('Endpoints', 'a/e', ['bad'], false);
    expect(Object.fromEntries(reports.ignoredByKind)).toEqual({
      ...{ Service: 2, EndpointSlice: 0, Node: 0, ServiceCIDR: 0, Endpoints: 1 },
      unreadable: 1,
    });
  });

  it.each([
    [{ metadata: { namespace: 'a', name: 'b' } }, 'a/b'],
    [{ metadata: { name: 'n1' } }, 'n1'],
    [{ metadata: { name: 'a\u001b[31m\n' } }, 'a\\u001b[31m\\n'],
    [{}, '(without a name)'],
    [null, '(without a name)'],
    [{ metadata: { name: 7 } }, '(without a name)'],
  ])('names %j', (object, name) => {
    expect(rawName(object)).toBe(name);
  });
});
