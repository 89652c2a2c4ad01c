import type { ReflectorTimings } from '../../../../src/adapters/kubernetes/watch/reflector.js';
import {
  SERVERS,
  listsOf,
  service,
  until,
  useServedSource,
  versionChecksOf,
  type Setup,
} from '../harness.js';

/** An API server whose storage is restored from a backup: what it says is older than what was heard of it before. */

const SERVICES = '/api/v1/services';

const served = useServedSource();

const clusterIP = (name: string): unknown =>
  (served.setup.sink.objects.get(`Service default/${name}`) as { spec?: { clusterIP?: string } })?.spec
    ?.clusterIP;
const rewinds = (): number | undefined =>
  served.setup.source.status().find(({ kind }) => kind === 'Service')!.rewinds;
/** Requests for all Services after the first list, by the version from which on. */
const laterLists = (): (string | undefined)[] =>
  listsOf(served.api, SERVICES)
    .filter(({ query }) => query.limit !== '1')
    .slice(1)
    .map(({ query }) => query.resourceVersion);

describe.each(SERVERS)(
  '$version over $encoding, streamed lists: $streamLists',
  ({ version, encoding, streamLists }) => {
    beforeEach(() => served.open(encoding, version));

    const startSynced = (timings: Partial<ReflectorTimings> = {}): Promise<Setup> =>
      served.startSynced({ streamLists, ...timings });

    it('is noticed as soon as the server is back, and what differs is delivered', async () => {
      for (const name of ['same', 'changed', 'gone']) served.api.put(service(name));
      const backup = served.api.store.backup();
      const { sink, logger } = await startSynced();
      served.api.remove('v1', 'Service', { name: 'gone' });
      served.api.patch('v1', 'Service', { name: 'changed' }, { spec: { clusterIP: '172.30.0.9' } });
      served.api.put(service('new'));
      await until(() => sink.objects.has('Service default/new'));
      await served.api.restore(backup);
      await until(() => sink.objects.has('Service default/gone') && !sink.objects.has('Service default/new'));
      expect(clusterIP('changed')).toBe('172.30.0.1');
      expect(laterLists()).toEqual([undefined]);
      expect(rewinds()).toBe(1);
      expect(logger.matching('warn', 'has gone back').map(({ facts }) => facts)).toContainEqual(
        expect.objectContaining({ kind: 'Service', now: String(backup.version) }),
      );
      served.api.put(service('later'));
      await until(() => sink.objects.has('Service default/later'));
    });

    it('that one kind notices makes all kinds list again, though their versions exist again', async () => {
      served.api.put(service('gone'));
      const backup = served.api.store.backup();
      const { sink, logger } = await startSynced();
      served.api.remove('v1', 'Service', { name: 'gone' });
      served.api.put(service('new'));
      for (let n = 0; n < 5; n++) served.api.put(served.endpoints(`slice-${n}`));
      await until(
        () => sink.objects.has('Service default/new') && sink.names(served.endpointsKind).length === 5,
      );
      await served.api.close();
      served.api.store.restore(backup);
      served.api.store.bump(4);
      await served.api.open();
      await until(() => sink.objects.has('Service default/gone') && !sink.objects.has('Service default/new'));
      await until(() => sink.names(served.endpointsKind).length === 0);
      await until(() =>
        served.setup.source.status().every(({ state }) => state === 'watching' || state === 'absent'),
      );
      expect(laterLists()).toEqual([undefined]);
      expect(new Set(served.setup.source.status().map((status) => status.rewinds))).toEqual(new Set([1]));
      expect(logger.matching('warn', 'has gone back').map(({ facts }) => facts.kind)).toEqual([
        served.endpointsKind,
      ]);
    });

    it('is noticed by the silence of the watches where these outlast it', async () => {
      served.api.put(service('web'));
      const { sink } = await startSynced({ silenceMinimum: 300, silenceMaximum: 400 });
      const backup = served.api.store.backup();
      served.api.put(service('new'));
      await until(() => sink.objects.has('Service default/new'));
      served.api.store.restore(backup);
      await until(() => !sink.objects.has('Service default/new'));
      expect(rewinds()).toBe(1);
    });

    it('is noticed when it has given a version that was known to other contents', async () => {
      const backup = served.api.store.backup();
      const { sink } = await startSynced();
      const { version } = served.api.store;
      served.api.put(service('web', { clusterIP: '172.30.0.2' }));
      served.api.put(service('other'));
      await until(() => sink.objects.has('Service default/other'));
      await served.api.restore(backup);
      expect(served.api.store.version).toBe(version);
      served.api.put(service('web', { clusterIP: '172.30.0.3' }));
      await until(() => !sink.objects.has('Service default/other'));
      expect(clusterIP('web')).toBe('172.30.0.3');
    });

    it('is noticed by an event of an older version', async () => {
      served.api.put(service('web'));
      const { sink, logger } = await startSynced();
      const backup = served.api.store.backup();
      served.api.put(service('new'));
      await until(() => sink.objects.has('Service default/new'));
      served.api.store.restore(backup);
      served.api.bookmark('1001');
      await until(() => !sink.objects.has('Service default/new'));
      expect(logger.matching('warn', 'failed')).toEqual([]);
      expect(rewinds()).toBe(1);
    });

    it('is counted too when the list says so that an expired watch led to', async () => {
      served.api.put(service('web'));
      const backup = served.api.store.backup();
      const { sink } = await startSynced();
      served.api.put(service('new'));
      await until(() => sink.objects.has('Service default/new'));
      served.api.faults.fail({
        status: 410,
        reason: 'Expired',
        match: `${SERVICES}?labelSelector`,
        times: 1,
      });
      await served.api.restore(backup);
      await until(() => !sink.objects.has('Service default/new'));
      expect(rewinds()).toBe(1);
    });

    it('is not assumed for a server that is merely silent; that is checked once in a while', async () => {
      served.api.put(service('web'));
      const { sink } = await startSynced({ silenceMinimum: 200, silenceMaximum: 200 });
      await until(() => versionChecksOf(served.api).length >= 3);
      expect(laterLists()).toEqual([]);
      expect(sink.calls.filter((call) => call.includes('Service default/web'))).toHaveLength(1);
      expect(rewinds()).toBe(0);
    });

    it('is checked until the server responds', async () => {
      const backup = served.api.store.backup();
      const { sink } = await startSynced();
      served.api.put(service('new'));
      await until(() => sink.objects.has('Service default/new'));
      served.api.faults.fail({ status: 500, match: '?limit=1', times: 2 });
      await served.api.restore(backup);
      await until(() => !sink.objects.has('Service default/new'));
      expect(versionChecksOf(served.api).length).toBeGreaterThanOrEqual(3);
      expect(laterLists()).toEqual([undefined]);
    });
  },
);
