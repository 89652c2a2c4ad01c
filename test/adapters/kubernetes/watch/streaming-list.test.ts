import { StandInApiServer } from '../../../support/api-server/api-server.js';
import { makeCertificates, type Certificates } from '../../../support/api-server/certificates.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { node, service, setUp, slice, until, type Setup } from '../harness.js';

const SERVICES = '/api/v1/services';

let certificates: Certificates;
let api: StandInApiServer;
let setup: Setup;

beforeAll(async () => {
  certificates = await makeCertificates();
});

afterEach(async () => {
  await setup?.source.stop();
  expect(setup.clock.open.size).toBe(0);
  await api.close();
});

describe.each(['protobuf', 'JSON'])('a streamed list over %s', (encoding) => {
  beforeEach(async () => {
    api = await StandInApiServer.start(certificates);
    api.speaksProtobuf = encoding === 'protobuf';
  });

  async function startSynced(timings = {}): Promise<Setup> {
    setup = setUp({ kubeconfig: await writeKubeconfig(api) }, { streamLists: true, ...timings });
    await setup.source.start(setup.sink, new AbortController().signal);
    await until(() => setup.sink.kindsSynced.length >= 4 && api.openWatches >= 4);
    return setup;
  }

  it('delivers what is there, then what changes, over one request for each kind', async () => {
    for (let n = 0; n < 10; n++) api.put(service(`svc-${n}`));
    api.put(slice('web-1'));
    api.put(node('node-a'));
    const { sink } = await startSynced();
    expect(sink.names('Service')).toHaveLength(10);
    expect(sink.calls.indexOf('synced Service')).toBeGreaterThan(
      sink.calls.indexOf('applied Service default/svc-9'),
    );
    api.remove('v1', 'Service', { name: 'svc-3' });
    api.put(service('new'));
    await until(() => sink.objects.has('Service default/new'));
    expect(sink.objects.has('Service default/svc-3')).toBe(false);
    expect(api.requests).toHaveLength(4);
    expect(api.requestsOf('watch', SERVICES)[0]!.query).toMatchObject({
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
      resourceVersion: '0',
      allowWatchBookmarks: 'true',
    });
  });

  it('deletes in the end what vanished while disconnected, and says nothing of what stayed the same', async () => {
    for (const name of ['same', 'changed', 'gone']) api.put(service(name));
    const { sink } = await startSynced();
    const before = sink.calls.length;
    await api.close();
    api.remove('v1', 'Service', { name: 'gone' });
    api.patch('v1', 'Service', { name: 'changed' }, { spec: { clusterIP: '172.30.0.9' } });
    api.put(service('new'));
    api.compact();
    await api.open();
    await until(() => api.openWatches === 4 && sink.calls.length >= before + 3);
    expect(sink.calls.slice(before).sort()).toEqual([
      'applied Service default/changed',
      'applied Service default/new',
      'deleted Service default/gone',
    ]);
    expect(sink.kindsSynced.filter((kind) => kind === 'Service')).toHaveLength(1);
    expect(api.requests.filter(({ verb }) => verb === 'list')).toEqual([]);
  });

  it('that is refused comes in pages, then and later', async () => {
    api.streamsLists = false;
    for (let n = 0; n < 10; n++) api.put(service(`svc-${n}`));
    const { sink, logger } = await startSynced();
    expect(sink.names('Service')).toHaveLength(10);
    expect(api.requestsOf('list', SERVICES)).toHaveLength(3);
    api.expireWatches();
    await until(() => api.requestsOf('list', SERVICES).length === 6);
    await until(() => api.openWatches === 4);
    const streamed = api.requestsOf('watch', SERVICES).filter(({ query }) => query.sendInitialEvents);
    expect(streamed).toHaveLength(1);
    expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
  });

  it('that never ends is replaced by pages', async () => {
    api.faults.withholdListEnd = true;
    api.put(service('web'));
    const { sink } = await startSynced({ silenceMinimum: 150, silenceMaximum: 200 });
    expect(sink.names('Service')).toEqual(['Service default/web']);
    expect(api.requestsOf('list', SERVICES).length).toBeGreaterThan(0);
  });

  it('that is cut off deletes nothing and is tried again', async () => {
    for (const name of ['a', 'b']) api.put(service(name));
    const { sink } = await startSynced();
    api.faults.withholdListEnd = true;
    const begun = api.requestsOf('watch', SERVICES).length;
    api.expireWatches();
    await until(() => api.requestsOf('watch', SERVICES).length > begun && api.openWatches === 4);
    api.faults.withholdListEnd = false;
    api.disconnectWatches();
    await until(() => setup.source.status().every(({ state }) => state === 'watching'));
    expect(sink.calls.filter((call) => call.startsWith('deleted'))).toEqual([]);
    api.put(service('later'));
    await until(() => sink.objects.has('Service default/later'));
  });

  it('of a version that the server does not know yet is asked for anew', async () => {
    api.put(service('web'));
    const { sink } = await startSynced();
    await api.close();
    api.store.remove(SERVICES, 'default', 'web');
    api.store.version = 500;
    api.store.compacted = 500;
    api.put(service('restored'));
    api.faults.fail({ status: 410, reason: 'Expired', match: SERVICES, times: 1 });
    await api.open();
    await until(
      () => sink.objects.has('Service default/restored') && !sink.objects.has('Service default/web'),
    );
  });
});
