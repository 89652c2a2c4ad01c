import type { ReflectorTimings } from '../../../../src/adapters/kubernetes/watch/reflector-timings.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import { makeCertificates, type Certificates } from '../../../support/api-server/certificates.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { DELIVERIES, listsOf, service, setUp, until, type Setup } from '../harness.js';

/** An API server whose storage is restored from a backup: what it says is older than what was heard of it before. */

const SERVICES = '/api/v1/services';

let certificates: Certificates;
let api: StandInApiServer;
let setup: Setup;

beforeAll(async () => {
  certificates = await makeCertificates();
});

afterEach(async () => {
  await setup.source.stop();
  await api.close();
});

const clusterIP = (name: string): unknown =>
  (setup.sink.objects.get(`Service default/${name}`) as { spec?: { clusterIP?: string } })?.spec?.clusterIP;
const rewinds = (): number | undefined =>
  setup.source.status().find(({ kind }) => kind === 'Service')!.rewinds;
/** Requests for Services after the first list: for one, which shows the version, or for everything from a version on. */
const laterLists = (): unknown[] =>
  listsOf(api, SERVICES)
    .slice(1)
    .map(({ query }) => (query.limit === '1' ? 'one' : { from: query.resourceVersion }));

/** So often it asked for the version alone, then for everything. On a busy machine there is more silence, and it asks more often. */
function expectListedWholeAfter(probes: number): void {
  const lists = laterLists();
  expect(lists.length - 1).toBeGreaterThanOrEqual(probes);
  expect(lists).toEqual([...lists.slice(1).map(() => 'one'), { from: undefined }]);
}

describe.each(DELIVERIES)('over $encoding in $listing', ({ encoding, streamLists }) => {
  beforeEach(async () => {
    api = await StandInApiServer.start(certificates);
    api.speaksProtobuf = encoding === 'protobuf';
  });

  async function startSynced(timings: Partial<ReflectorTimings>): Promise<Setup> {
    setup = setUp({ kubeconfig: await writeKubeconfig(api) }, { streamLists, ...timings });
    await setup.source.start(setup.sink, new AbortController().signal);
    await until(() => setup.sink.kindsSynced.length === 4 && api.openWatches === 4);
    return setup;
  }

  it('is noticed by the silence of the watch, and what differs is delivered', async () => {
    for (const name of ['same', 'changed', 'gone']) api.put(service(name));
    const backup = api.store.backup();
    const { sink, logger } = await startSynced({ silenceMinimum: 300, silenceMaximum: 400 });
    api.remove('v1', 'Service', { name: 'gone' });
    api.patch('v1', 'Service', { name: 'changed' }, { spec: { clusterIP: '172.30.0.9' } });
    api.put(service('new'));
    await until(() => sink.objects.has('Service default/new'));
    await api.restore(backup);
    await until(() => api.openWatches === 4);
    expect(sink.objects.has('Service default/new')).toBe(true);
    await until(() => sink.objects.has('Service default/gone') && !sink.objects.has('Service default/new'));
    expect(clusterIP('changed')).toBe('172.30.0.1');
    expectListedWholeAfter(1);
    expect(rewinds()).toBe(1);
    expect(logger.matching('warn', 'has gone back').map(({ facts }) => facts)).toContainEqual(
      expect.objectContaining({ kind: 'Service', now: String(backup.version) }),
    );
    api.put(service('later'));
    await until(() => sink.objects.has('Service default/later'));
  });

  it('is noticed when it has given a version that was known to other contents', async () => {
    const backup = api.store.backup();
    const { sink } = await startSynced({ silenceMinimum: 300, silenceMaximum: 300 });
    const { version } = api.store;
    api.put(service('web', { clusterIP: '172.30.0.2' }));
    api.put(service('other'));
    await until(() => sink.objects.has('Service default/other'));
    await api.restore(backup);
    expect(api.store.version).toBe(version);
    api.put(service('web', { clusterIP: '172.30.0.3' }));
    await until(() => !sink.objects.has('Service default/other'));
    expect(clusterIP('web')).toBe('172.30.0.3');
  });

  it('is noticed by an event of an older version', async () => {
    api.put(service('web'));
    const { sink, logger } = await startSynced({ silenceMinimum: 10_000, silenceMaximum: 10_000 });
    const backup = api.store.backup();
    api.put(service('new'));
    await until(() => sink.objects.has('Service default/new'));
    api.store.restore(backup);
    api.bookmark('1001');
    await until(() => !sink.objects.has('Service default/new'));
    expect(logger.matching('warn', 'failed')[0]!.facts.error).toMatch(/version 1001, which is older/);
    expect(rewinds()).toBe(1);
  });

  it('is counted too when the list says so that an expired watch led to', async () => {
    api.put(service('web'));
    const backup = api.store.backup();
    const { sink } = await startSynced({});
    api.put(service('new'));
    await until(() => sink.objects.has('Service default/new'));
    api.faults.fail({ status: 410, reason: 'Expired', match: `${SERVICES}?labelSelector`, times: 1 });
    await api.restore(backup);
    await until(() => !sink.objects.has('Service default/new'));
    expect(rewinds()).toBe(1);
  });

  it('is not assumed for a server that is merely silent; that is checked once in a while', async () => {
    api.put(service('web'));
    const { sink } = await startSynced({ silenceMinimum: 200, silenceMaximum: 200 });
    await until(() => api.requestsOf('watch', SERVICES).length === 4);
    expect(laterLists()).toEqual(['one', 'one', 'one']);
    const asked = api.requestsOf('list', SERVICES).filter(({ query }) => query.limit === '1');
    expect(asked[2]!.at - asked[0]!.at).toBeGreaterThanOrEqual(390);
    expect(sink.calls.filter((call) => call.includes('Service default/web'))).toHaveLength(1);
    expect(rewinds()).toBe(0);
  });

  it('is checked again at the next silence if the server does not respond', async () => {
    const backup = api.store.backup();
    const { sink } = await startSynced({ silenceMinimum: 200, silenceMaximum: 200 });
    api.put(service('new'));
    await until(() => sink.objects.has('Service default/new'));
    api.faults.fail({ status: 500, match: 'clusterIP!=None&limit=1', times: 1 });
    await api.restore(backup);
    await until(() => !sink.objects.has('Service default/new'));
    expectListedWholeAfter(2);
  });
});
