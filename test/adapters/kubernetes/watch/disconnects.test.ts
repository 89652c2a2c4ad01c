import {
  SERVERS,
  listsOf,
  service,
  until,
  useServedSource,
  versionChecksOf,
  type Setup,
} from '../harness.js';

const SERVICES = '/api/v1/services';

const served = useServedSource();

/** What a reflector missed while it was disconnected, it makes up for, and says nothing of the rest. */
describe.each(SERVERS)(
  '$version over $encoding, streamed lists: $streamLists',
  ({ version, encoding, streamLists }) => {
    beforeEach(() => served.open(encoding, version));

    const startSynced = (timings = {}): Promise<Setup> => served.startSynced({ streamLists, ...timings });

    /** Changes everything that can change, and leaves one object as it is. */
    function changeAll(): void {
      served.api.remove('v1', 'Service', { name: 'gone' });
      served.api.patch('v1', 'Service', { name: 'changed' }, { spec: { clusterIP: '172.30.0.9' } });
      served.api.put(service('new'));
    }

    const CHANGES = [
      'applied Service default/changed',
      'applied Service default/new',
      'deleted Service default/gone',
    ];

    async function expectChanges(change: () => void | Promise<void>): Promise<void> {
      const { calls, kindsSynced } = served.setup.sink;
      const before = calls.length;
      const syncedBefore = [...kindsSynced];
      await change();
      await until(() => served.api.openWatches === served.kinds && calls.length >= before + CHANGES.length);
      expect(calls.slice(before).sort()).toEqual(CHANGES);
      expect(kindsSynced).toEqual(syncedBefore);
    }

    function expectNoFurtherList(): void {
      expect(listsOf(served.api, SERVICES).filter(({ query }) => query.limit !== '1')).toHaveLength(1);
    }

    beforeEach(async () => {
      for (const name of ['same', 'changed', 'gone']) served.api.put(service(name));
    });

    it('a watch that breaks is resumed, without a list', async () => {
      await startSynced();
      await expectChanges(() => {
        served.api.disconnectWatches();
        changeAll();
      });
      await until(() => versionChecksOf(served.api).length > 0);
      expectNoFurtherList();
    });

    it('a watch that hangs is cut off and resumed, and the storage shows its version', async () => {
      const { logger } = await startSynced({ silenceMinimum: 200, silenceMaximum: 250 });
      await expectChanges(() => {
        served.api.hangWatches();
        changeAll();
      });
      expect(logger.matching('debug', 'the watch is idle')[0]!.facts.error).toMatch(/no data for 2\d\d ms/);
      expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
      await until(() => versionChecksOf(served.api).length > 0);
      expectNoFurtherList();
    });

    it.each(['event', 'status'] as const)('410 Gone as %s leads to a list by difference', async (goneAs) => {
      served.api.faults.goneAs = goneAs;
      await startSynced();
      await expectChanges(async () => {
        await served.api.close();
        changeAll();
        served.api.compact();
        await served.api.open();
      });
      const { query } = listsOf(served.api, SERVICES).at(-1)!;
      expect(query.resourceVersionMatch).toBe('NotOlderThan');
      expect(Number(query.resourceVersion)).toBeGreaterThan(0);
    });

    it('a server that knows less than before is asked for the newest', async () => {
      const { sink } = await startSynced();
      await served.api.close();
      served.api.store.remove(SERVICES, 'default', 'gone');
      // Storage restored from an old backup: the version counter is behind what the proxy has seen.
      served.api.store.version = 500;
      served.api.store.compacted = 500;
      served.api.put(service('restored'));
      await served.api.open();
      served.api.faults.fail({ status: 410, reason: 'Expired', match: SERVICES, times: 1 });
      await until(
        () => sink.objects.has('Service default/restored') && !sink.objects.has('Service default/gone'),
      );
      expect(listsOf(served.api, SERVICES).at(-1)!.query.resourceVersion).toBeUndefined();
    });
  },
);
