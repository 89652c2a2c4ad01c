import type { ReflectorTimings } from '../../../../src/adapters/kubernetes/watch/reflector-timings.js';
import { DELIVERIES, listsOf, service, until, useServedSource, type Setup } from '../harness.js';

/** An API server whose storage is restored from a backup: what it says is older than what was heard of it before. */

const SERVICES = '/api/v1/services';

const served = useServedSource();

const clusterIP = (name: string): unknown =>
  (served.setup.sink.objects.get(`Service default/${name}`) as { spec?: { clusterIP?: string } })?.spec
    ?.clusterIP;
const rewinds = (): number | undefined =>
  served.setup.source.status().find(({ kind }) => kind === 'Service')!.rewinds;
/** Requests for Services after the first list: for one, which shows the version, or for everything from a version on. */
const laterLists = (): unknown[] =>
  listsOf(served.api, SERVICES)
    .slice(1)
    .map(({ query }) => (query.limit === '1' ? 'one' : { from: query.resourceVersion }));

/** So often it asked for the version alone, then for everything. On a busy machine there is more silence, and it asks more often. */
function expectListedWholeAfter(probes: number): void {
  const lists = laterLists();
  expect(lists.length - 1).toBeGreaterThanOrEqual(probes);
  expect(lists).toEqual([...lists.slice(1).map(() => 'one'), { from: undefined }]);
}

describe.each(DELIVERIES)('over $encoding in $listing', ({ encoding, streamLists }) => {
  beforeEach(() => served.open(encoding));

  const startSynced = (timings: Partial<ReflectorTimings>): Promise<Setup> =>
    served.startSynced({ streamLists, ...timings });

  it('is noticed by the silence of the watch, and what differs is delivered', async () => {
    for (const name of ['same', 'changed', 'gone']) served.api.put(service(name));
    const backup = served.api.store.backup();
    const { sink, logger } = await startSynced({ silenceMinimum: 300, silenceMaximum: 400 });
    served.api.remove('v1', 'Service', { name: 'gone' });
    served.api.patch('v1', 'Service', { name: 'changed' }, { spec: { clusterIP: '172.30.0.9' } });
    served.api.put(service('new'));
    await until(() => sink.objects.has('Service default/new'));
    await served.api.restore(backup);
    await until(() => served.api.openWatches === 4);
    expect(sink.objects.has('Service default/new')).toBe(true);
    await until(() => sink.objects.has('Service default/gone') && !sink.objects.has('Service default/new'));
    expect(clusterIP('changed')).toBe('172.30.0.1');
    expectListedWholeAfter(1);
    expect(rewinds()).toBe(1);
    expect(logger.matching('warn', 'has gone back').map(({ facts }) => facts)).toContainEqual(
      expect.objectContaining({ kind: 'Service', now: String(backup.version) }),
    );
    served.api.put(service('later'));
    await until(() => sink.objects.has('Service default/later'));
  });

  it('is noticed when it has given a version that was known to other contents', async () => {
    const backup = served.api.store.backup();
    const { sink } = await startSynced({ silenceMinimum: 300, silenceMaximum: 300 });
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
    const { sink, logger } = await startSynced({ silenceMinimum: 10_000, silenceMaximum: 10_000 });
    const backup = served.api.store.backup();
    served.api.put(service('new'));
    await until(() => sink.objects.has('Service default/new'));
    served.api.store.restore(backup);
    served.api.bookmark('1001');
    await until(() => !sink.objects.has('Service default/new'));
    expect(logger.matching('warn', 'failed')[0]!.facts.error).toMatch(/version 1001, which is older/);
    expect(rewinds()).toBe(1);
  });

  it('is counted too when the list says so that an expired watch led to', async () => {
    served.api.put(service('web'));
    const backup = served.api.store.backup();
    const { sink } = await startSynced({});
    served.api.put(service('new'));
    await until(() => sink.objects.has('Service default/new'));
    served.api.faults.fail({ status: 410, reason: 'Expired', match: `${SERVICES}?labelSelector`, times: 1 });
    await served.api.restore(backup);
    await until(() => !sink.objects.has('Service default/new'));
    expect(rewinds()).toBe(1);
  });

  it('is not assumed for a server that is merely silent; that is checked once in a while', async () => {
    served.api.put(service('web'));
    const { sink } = await startSynced({ silenceMinimum: 200, silenceMaximum: 200 });
    await until(() => served.api.requestsOf('watch', SERVICES).length === 4);
    expect(laterLists()).toEqual(['one', 'one', 'one']);
    const asked = served.api.requestsOf('list', SERVICES).filter(({ query }) => query.limit === '1');
    expect(asked[2]!.at - asked[0]!.at).toBeGreaterThanOrEqual(390);
    expect(sink.calls.filter((call) => call.includes('Service default/web'))).toHaveLength(1);
    expect(rewinds()).toBe(0);
  });

  it('is checked again at the next silence if the server does not respond', async () => {
    const backup = served.api.store.backup();
    const { sink } = await startSynced({ silenceMinimum: 200, silenceMaximum: 200 });
    served.api.put(service('new'));
    await until(() => sink.objects.has('Service default/new'));
    served.api.faults.fail({ status: 500, match: 'clusterIP!=None&limit=1', times: 1 });
    await served.api.restore(backup);
    await until(() => !sink.objects.has('Service default/new'));
    expectListedWholeAfter(2);
  });
});
