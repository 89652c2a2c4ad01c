import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { ScriptedSource } from '../../../src/testing/fakes/scripted-source.js';
import { ObjectReports, rawName } from '../../../src/application/use-cases/object-reports.js';
import { rawService, rawSlice } from '../../domain/decode/objects.js';
import { Bench } from './bench.js';

describe('ClusterEvents', () => {
  it('waits for the lists it needs, then reports each that arrives', async () => {
    const { events, ...bench } = new Bench();
    const initialized = () => bench.initialized;
    expect(events.missing).toEqual(['Service', 'EndpointSlice']);
    events.synced('Node');
    events.synced('Service');
    events.synced('Service');
    expect([events.missing, initialized()]).toEqual([['EndpointSlice'], 0]);
    let complete = false;
    void events.complete.then(() => (complete = true));
    await Promise.resolve();
    expect(complete).toBe(false);
    events.synced('EndpointSlice');
    await events.complete;
    expect(events.missing).toEqual([]);
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
  it('keeps kinds and objects apart, and forgets deleted ones', () => {
    const logger = new MemoryLogger();
    const reports = new ObjectReports(logger);
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
    const reports = new ObjectReports(new MemoryLogger());
    reports.report('Service', 'a/b', ['bad'], false);
    reports.report('Service', 'a/b', ['bad'], true);
    expect(reports.rejected).toEqual([]);
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
