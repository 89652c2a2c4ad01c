import { readEndpointSlice } from '../../../src/domain/decode/read-endpoint-slice.js';
import { RELEASES } from '../../support/api-server/release.js';
import { listsOf, node, service, slice, until, useServedSource, versionChecksOf } from './harness.js';

const SERVICES = '/api/v1/services';
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';
const CIDRS = '/apis/networking.k8s.io/v1/servicecidrs';

const served = useServedSource();

const headless = (name: string) => service(name, { clusterIP: 'None' });
const endpoints = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Endpoints',
  metadata: { name },
  subsets: [{ addresses: [{ ip: '10.244.0.1' }], ports: [{ port: 8080 }] }],
});
const cidr = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: ['172.30.0.0/16'] },
};

/** Every kind is listed, or known to be absent; those that are there are watched. */
function isSettled(): boolean {
  const all = served.setup.source.status();
  return all.every(({ synced, state, connected }) => synced && (connected || state === 'absent'));
}

const stateOf = (kind: string): string | undefined =>
  served.setup.source.status().find((status) => status.kind === kind)?.state;
const failures = () => served.setup.logger.matching('warn', 'failed');
const rejections = () =>
  served.api.requests.filter(({ path, status }) => path === SERVICES && status === 400);
/** What watches of Services that were accepted select by. */
const selectors = () =>
  served.api
    .requestsOf('watch', SERVICES)
    .filter(({ status }) => status === 200)
    .map(({ query }) => query.fieldSelector);

describe.each(RELEASES)('at an API server of Kubernetes %s', (version) => {
  const minor = Number(version.split('.')[1]);

  it.each([true, false])('everything is read without a warning (streamed lists: %s)', async (streamLists) => {
    await served.open('protobuf', version);
    for (const object of [service('web'), headless('headless'), slice('web-1'), endpoints('web'), cidr])
      served.api.put(object);
    served.api.put(node('node-a'));
    const { sink, logger } = await served.start({ streamLists });
    await until(isSettled);
    expect([...sink.objects.keys()].sort()).toEqual([
      minor < 21 ? 'Endpoints default/web' : 'EndpointSlice default/web-1',
      'Node node-a',
      'Service default/web',
      ...(minor < 33 ? [] : ['ServiceCIDR kubernetes']),
    ]);
    expect(sink.kindsSynced).toEqual(
      expect.arrayContaining(['Node', 'Service', 'EndpointSlice', 'ServiceCIDR']),
    );
    expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    expect(rejections()).toHaveLength(minor < 31 ? 1 : 0);
    const streamed = served.api.requests.filter(
      ({ query, status }) => query.sendInitialEvents && status === 200,
    );
    expect(streamed.length > 0).toBe(streamLists && minor >= 34);
  });

  it('headless Services are left out of lists and watches', async () => {
    await served.open('JSON', version);
    for (let n = 0; n < 10; n++) served.api.put(n % 2 === 0 ? service(`svc-${n}`) : headless(`svc-${n}`));
    const { sink } = await served.start({ streamLists: true });
    await until(isSettled);
    served.api.put(headless('late-headless'));
    served.api.patch('v1', 'Service', { name: 'svc-1' }, { metadata: { labels: { changed: '' } } });
    served.api.patch('v1', 'Service', { name: 'svc-2' }, { spec: { clusterIP: 'None' } });
    served.api.patch('v1', 'Service', { name: 'svc-3' }, { spec: { clusterIP: '172.30.0.3' } });
    served.api.remove('v1', 'Service', { name: 'svc-5' });
    served.api.put(service('late'));
    await until(() => sink.objects.has('Service default/late'));
    const expected = ['late', 'svc-0', 'svc-3', 'svc-4', 'svc-6', 'svc-8'];
    expect(sink.names('Service')).toEqual(expected.map((name) => `Service default/${name}`));
    expect(sink.calls.filter((call) => /svc-[1579]|late-headless/.test(call))).toEqual([]);
    expect(sink.calls.filter((call) => /svc-2/.test(call))).toEqual([
      'applied Service default/svc-2',
      'deleted Service default/svc-2',
    ]);
  });

  it('Services that became headless while the watch was interrupted are removed', async () => {
    await served.open('protobuf', version);
    for (const name of ['one', 'other']) served.api.put(service(name));
    const { sink } = await served.start();
    await until(isSettled);
    served.api.faults.goneAs = 'status';
    await served.api.close();
    served.api.patch('v1', 'Service', { name: 'one' }, { spec: { clusterIP: 'None' } });
    served.api.compact();
    await served.api.open();
    await until(() => !sink.objects.has('Service default/one') && isSettled());
    expect(sink.names('Service')).toEqual(['Service default/other']);
  });
});

describe('the field selector', () => {
  async function startAt(...versions: readonly string[]): Promise<void> {
    await served.open();
    served.api.versions = versions;
    served.api.put(service('web'));
    served.api.put(headless('headless'));
    await served.start({ streamLists: true });
    await until(isSettled);
  }

  /** All connections end, as when API servers are replaced. */
  async function replaceBy(...versions: readonly string[]): Promise<void> {
    await replace(versions, () => served.api.disconnectWatches());
  }

  async function replace(versions: readonly string[], end: () => void): Promise<void> {
    const watches = selectors().length;
    served.api.versions = versions;
    end();
    await until(() => selectors().length > watches && isSettled());
  }

  async function expectServed(): Promise<void> {
    const { sink } = served.setup;
    served.api.put(headless(`headless-${served.api.store.version}`));
    const name = `web-${served.api.store.version}`;
    served.api.put(service(name));
    await until(() => sink.objects.has(`Service default/${name}`));
    expect(sink.calls.filter((call) => call.includes('headless'))).toEqual([]);
    expect(failures().filter(({ facts }) => String(facts.error).includes('400'))).toEqual([]);
  }

  it.each(['disconnectWatches', 'endWatches'] as const)('is used again after an upgrade: %s', async (end) => {
    await startAt('1.30');
    expect(selectors()).toEqual([undefined]);
    // A watch that ends at once is a failure.
    await new Promise((resolve) => setTimeout(resolve, 50));
    await replace(['1.31'], () => served.api[end]());
    expect(selectors()).toEqual([undefined, 'spec.clusterIP!=None']);
    await expectServed();
  });

  it('is left out after a downgrade, without another list', async () => {
    await startAt('1.31');
    const lists = served.api.requestsOf('list', SERVICES).length;
    await replaceBy('1.30');
    expect(selectors()).toEqual(['spec.clusterIP!=None', undefined]);
    await expectServed();
    expect(served.api.requestsOf('list', SERVICES).filter(({ query }) => query.limit !== '1')).toHaveLength(
      lists,
    );
  });

  it('is not sent again and again to a server that rejects it', async () => {
    await startAt('1.30');
    for (let n = 0; n < 3; n++) {
      served.api.expireWatches();
      await until(() => served.api.requestsOf('list', SERVICES).length >= n + 3 && isSettled());
    }
    expect(rejections()).toHaveLength(1);
    expect(served.setup.logger.matching('info', 'field selector')).toHaveLength(1);
  });

  it.each([
    [['1.30', '1.31']],
    [['1.31', '1.30', '1.30']],
    [['1.30', '1.36', '1.33']],
    [['1.27', '1.36', '1.36', '1.36', '1.36']],
  ])('may be known to some of the servers behind one address: %j', async (versions) => {
    await startAt(...versions);
    await expectServed();
    for (let n = 0; n < 4; n++) {
      await replaceBy(...versions);
      await expectServed();
      const lists = listsOf(served.api, SERVICES).length;
      served.api.expireWatches();
      await until(() => listsOf(served.api, SERVICES).length > lists && isSettled());
      await expectServed();
    }
  });

  it.each([
    ['"spec.clusterIP" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ['field label not supported: spec.clusterIP'],
    [
      'Unable to find "/v1, Resource=services" that match label selector "", field selector "spec.clusterIP!=None"',
    ],
  ])('is left out where the server answers 400: %s', async (message) => {
    await served.open();
    const match = 'fieldSelector=spec.clusterIP';
    served.api.faults.fail({ status: 400, reason: 'BadRequest', message, match });
    served.api.put(service('web'));
    await served.start({ streamLists: true });
    await until(isSettled);
    await expectServed();
  });

  it.each([
    [400, 'the request is malformed'],
    [403, 'services is forbidden: spec.clusterIP'],
    [500, 'spec.clusterIP'],
  ])('stays where the server answers %s for another reason', async (status, message) => {
    await served.open();
    served.api.faults.fail({ status, message, match: 'fieldSelector=spec.clusterIP', times: 2 });
    await served.start();
    await until(isSettled);
    expect(failures()).toHaveLength(1);
    expect(served.api.requestsOf('list', SERVICES).map(({ query }) => query.fieldSelector)).toEqual(
      Array(3).fill('spec.clusterIP!=None'),
    );
  });
});

describe('resources', () => {
  it('EndpointSlices give way to Endpoints after a downgrade, and come back with an upgrade', async () => {
    await served.open('protobuf', '1.21');
    served.api.put(slice('web-1'));
    served.api.put(endpoints('web'));
    const { sink } = await served.start();
    await until(isSettled);
    expect(stateOf('Endpoints')).toBeUndefined();
    served.api.version = '1.20';
    served.api.disconnectWatches();
    await until(() => stateOf('Endpoints') === 'watching' && sink.names('EndpointSlice').length === 0);
    expect(sink.names('Endpoints')).toEqual(['Endpoints default/web']);
    expect(sink.calls.indexOf('applied Endpoints default/web')).toBeLessThan(
      sink.calls.indexOf('deleted EndpointSlice default/web-1'),
    );
    served.api.version = '1.21';
    await until(() => stateOf('EndpointSlice') === 'watching' && sink.names('Endpoints').length === 0);
    expect(sink.names('EndpointSlice')).toEqual(['EndpointSlice default/web-1']);
    expect(sink.calls.lastIndexOf('applied EndpointSlice default/web-1')).toBeLessThan(
      sink.calls.indexOf('deleted Endpoints default/web'),
    );
  });

  it('ServiceCIDRs stay after a downgrade, and are followed again after an upgrade', async () => {
    await served.open('protobuf', '1.33');
    served.api.put(cidr);
    const { sink, logger } = await served.start();
    await until(isSettled);
    served.api.version = '1.31';
    served.api.disconnectWatches();
    await until(() => stateOf('ServiceCIDR') === 'absent');
    expect(sink.names('ServiceCIDR')).toEqual(['ServiceCIDR kubernetes']);
    const absences = served.api.requestsOf('list', CIDRS).length;
    await until(() => served.api.requestsOf('list', CIDRS).length > absences + 1);
    expect(logger.matching('info', 'does not offer')).toHaveLength(1);
    served.api.version = '1.33';
    served.api.remove('networking.k8s.io/v1', 'ServiceCIDR', { name: 'kubernetes' });
    await until(() => sink.names('ServiceCIDR').length === 0);
  });

  it('that are absent after a downgrade are not asked for the version of the storage', async () => {
    await served.open('protobuf', '1.33');
    const { sink } = await served.startSynced();
    served.api.put(cidr);
    await until(() => sink.names('ServiceCIDR').length === 1);
    served.api.version = '1.31';
    served.api.disconnectWatches();
    await until(() => versionChecksOf(served.api).some(({ status }) => status === 200));
  });

  it('that were listed and are forbidden now are a failure', async () => {
    await served.open();
    await served.startSynced();
    served.api.faults.fail({ status: 403, reason: 'Forbidden', match: CIDRS });
    served.api.expireWatches();
    await until(() => failures().length > 0);
    expect(failures()[0]!.facts).toMatchObject({ kind: 'ServiceCIDR' });
    expect(stateOf('ServiceCIDR')).not.toBe('absent');
  });
});

it('an endpoint without the conditions of later releases is serving and not terminating', async () => {
  await served.open('protobuf', '1.21');
  const conditions = { ready: false, serving: true, terminating: true };
  served.api.put({
    ...slice('web-1', { 'kubernetes.io/service-name': 'web' }),
    endpoints: [{ addresses: ['10.244.0.1'], conditions }],
    ports: [{ name: '', port: 8080, protocol: 'TCP' }],
  });
  const { sink } = await served.start();
  await until(() => sink.kindsSynced.length === 4);
  const delivered = sink.objects.get('EndpointSlice default/web-1')!;
  expect(delivered.endpoints).toEqual([{ addresses: ['10.244.0.1'], conditions: { ready: false } }]);
  expect(readEndpointSlice(delivered, 'node-a').value!.ports[0]!.endpoints[0]).toMatchObject({
    ready: false,
    serving: true,
    terminating: false,
  });
});

it('a server that ignores the request for initial events is listed in pages', async () => {
  await served.open();
  served.api.faults.withholdListEnd = true;
  served.api.put(service('web'));
  const { sink } = await served.start({ streamLists: true });
  await until(() => served.api.openWatches === 4);
  served.api.bookmark();
  await until(() => sink.kindsSynced.length === 4);
  expect(served.api.requestsOf('list', SLICES)).toHaveLength(1);
  expect(failures()).toEqual([]);
});
