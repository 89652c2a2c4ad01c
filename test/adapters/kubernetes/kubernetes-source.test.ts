import { StandInApiServer } from '../../support/api-server/api-server.js';
import { makeCertificates, type Certificates } from '../../support/api-server/certificates.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import { node, service, setUp, slice, until, type Setup } from './harness.js';
import type { ApiTimeouts } from '../../../src/adapters/kubernetes/client/api-timeouts.js';
import type { ReflectorTimings } from '../../../src/adapters/kubernetes/watch/reflector-timings.js';

const SERVICES = '/api/v1/services';
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';

let certificates: Certificates;
let api: StandInApiServer;
let setup: Setup;

beforeAll(async () => {
  certificates = await makeCertificates();
});

afterEach(async () => {
  await setup?.source.stop();
  await api.close();
});

async function start(
  timings: Partial<ReflectorTimings> = {},
  timeouts: Partial<ApiTimeouts> = {},
): Promise<Setup> {
  setup = setUp({ kubeconfig: await writeKubeconfig(api) }, timings, timeouts);
  await setup.source.start(setup.sink, new AbortController().signal);
  return setup;
}

async function startSynced(
  timings: Partial<ReflectorTimings> = {},
  timeouts: Partial<ApiTimeouts> = {},
): Promise<Setup> {
  await start(timings, timeouts);
  await until(() => setup.sink.kindsSynced.length >= 4 && api.openWatches >= 4);
  return setup;
}

describe.each(['protobuf', 'JSON'])('over %s', (encoding) => {
  beforeEach(async () => {
    api = await StandInApiServer.start(certificates);
    api.speaksProtobuf = encoding === 'protobuf';
  });

  describe('the initial list', () => {
    it('comes in pages and is complete before synced', async () => {
      for (let n = 10; n < 20; n++) api.put(service(`svc-${n}`));
      const { sink } = await startSynced();
      expect(sink.names('Service')).toHaveLength(10);
      const calls = sink.calls.filter((call) => call.includes('Service ') || call === 'synced Service');
      expect(calls.indexOf('synced Service')).toBe(10);
      const lists = api.requestsOf('list', SERVICES).map(({ query }) => query);
      expect(lists.map(({ limit, resourceVersion }) => [limit, resourceVersion])).toEqual([
        ['4', '0'],
        ['4', undefined],
        ['4', undefined],
      ]);
      expect(lists[1]!.continue).toBeTruthy();
    });

    it('copes with a server that ignores the limit', async () => {
      api.faults.ignoreLimitAtZero = true;
      // More than is sent uncompressed.
      for (let n = 0; n < 300; n++) api.put(service(`svc-${n}`, { type: 'ä"\\{]'.repeat(100) }));
      const { sink } = await startSynced();
      expect(sink.names('Service')).toHaveLength(300);
      expect((sink.objects.get('Service default/svc-7') as { spec?: unknown }).spec).toMatchObject({
        type: 'ä"\\{]'.repeat(100),
      });
      expect(api.requestsOf('list', SERVICES)).toHaveLength(1);
    });

    it('has kube-proxy’s selectors', async () => {
      api.put(service('plain'));
      api.put(service('headless', { clusterIP: 'None' }));
      api.put(service('foreign', {}, { 'service.kubernetes.io/service-proxy-name': '' }));
      api.put(slice('plain-1'));
      api.put(slice('headless-1', { 'service.kubernetes.io/headless': '' }));
      api.put(node('node-a'));
      api.put(node('node-b'));
      api.put({
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name: 'kubernetes' },
        spec: { cidrs: ['172.30.0.0/16'] },
      });
      const { sink } = await startSynced();
      expect([...sink.objects.keys()].sort()).toEqual([
        'EndpointSlice default/plain-1',
        'Node node-a',
        'Service default/plain',
        'ServiceCIDR kubernetes',
      ]);
    });

    it('is begun again without pages when it expires between them', async () => {
      for (let n = 0; n < 10; n++) api.put(service(`svc-${n}`));
      api.faults.fail({ status: 410, reason: 'Expired', match: 'continue=', times: 1 });
      const { sink } = await startSynced();
      expect(sink.names('Service')).toHaveLength(10);
      expect(sink.calls.filter((call) => call === 'applied Service default/svc-0')).toHaveLength(1);
      const last = api.requestsOf('list', SERVICES).at(-1)!.query;
      expect(last.limit).toBeUndefined();
      expect(last.continue).toBeUndefined();
    });
  });

  describe('a watch', () => {
    it('delivers additions, changes and removals', async () => {
      const { sink } = await startSynced();
      api.put(service('web'));
      await until(() => sink.objects.has('Service default/web'));
      api.patch('v1', 'Service', { name: 'web' }, { spec: { clusterIP: '172.30.0.9' } });
      await until(() => JSON.stringify(sink.objects.get('Service default/web')).includes('172.30.0.9'));
      api.remove('v1', 'Service', { name: 'web' });
      await until(() => !sink.objects.has('Service default/web'));
      expect(api.requestsOf('list', SERVICES)).toHaveLength(1);
    });

    it('delivers an object that begins to match the exclusion as deleted', async () => {
      api.put(service('web'));
      const { sink } = await startSynced();
      const labels = { 'service.kubernetes.io/service-proxy-name': 'other' };
      api.patch('v1', 'Service', { name: 'web' }, { metadata: { labels } });
      await until(() => !sink.objects.has('Service default/web'));
    });

    it('is resumed from the last bookmark, without a list', async () => {
      api.put(service('web'));
      const { sink } = await startSynced();
      api.store.bump(50);
      api.bookmark();
      const version = String(api.store.version);
      await until(() => setup.source.status().every(({ lastActivity }) => lastActivity !== undefined));
      await new Promise((resolve) => setTimeout(resolve, 50));
      api.compact();
      api.endWatches();
      await until(() => api.requestsOf('watch', SERVICES).length === 2);
      expect(api.requestsOf('watch', SERVICES)[1]!.query).toMatchObject({
        resourceVersion: version,
        allowWatchBookmarks: 'true',
      });
      api.put(service('later'));
      await until(() => sink.objects.has('Service default/later'));
      expect(api.requestsOf('list', SERVICES)).toHaveLength(1);
    });

    it('asks the server to end it after its time', async () => {
      await startSynced({ watchMinimum: 1000, watchMaximum: 1000 });
      expect(api.requestsOf('watch', SERVICES)[0]!.query.timeoutSeconds).toBe('1');
      await until(() => api.requestsOf('watch', SERVICES).length === 2);
      expect(setup.logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
      expect(api.requestsOf('list', SERVICES)).toHaveLength(1);
    });

    it('is resumed after a disconnect with what happened meanwhile', async () => {
      api.put(service('gone'));
      const { sink } = await startSynced();
      api.disconnectWatches();
      api.remove('v1', 'Service', { name: 'gone' });
      api.put(service('new'));
      await until(() => sink.objects.has('Service default/new') && !sink.objects.has('Service default/gone'));
      expect(api.requestsOf('list', SERVICES)).toHaveLength(1);
    });

    it('that hangs is cut off and resumed', async () => {
      const { sink, logger } = await startSynced({ silenceMinimum: 200, silenceMaximum: 250 });
      api.hangWatches();
      api.put(service('web'));
      expect(sink.objects.size).toBe(0);
      await until(() => sink.objects.has('Service default/web'));
      expect(logger.matching('debug', 'silent')[0]!.facts.error).toMatch(/no data for 2\d\d ms/);
      expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
      const asked = api.requestsOf('list', SERVICES).slice(1);
      expect(asked.map(({ query }) => [query.limit, query.resourceVersion])).toEqual([['1', undefined]]);
    });

    const watchesBegun = (): number => api.requests.filter(({ verb }) => verb === 'watch').length;

    it('with an unreadable event is resumed, and listed when it comes again', async () => {
      const { sink, logger } = await startSynced();
      api.sendRaw(encoding === 'JSON' ? '{"type":"ADDED","object":{\n' : '\0\0\0\x02\n\x09');
      await until(() => logger.matching('warn', 'failed').length === 4);
      expect(logger.matching('warn', 'failed')[0]!.facts.error).toMatch(
        encoding === 'JSON' ? /not valid JSON/ : /a length beyond the end/,
      );
      // The second watches, with the first ones closed: the line is to come on those.
      await until(() => watchesBegun() === 8 && api.openWatches === 4);
      expect(api.requestsOf('list', SERVICES)).toHaveLength(1);
      api.sendRaw('nonsense\n');
      await until(() => api.requestsOf('list', SERVICES).length === 2);
      api.put(service('web'));
      await until(() => sink.objects.has('Service default/web'));
    });
  });

  describe.each(['event', 'status'] as const)('410 Gone as %s', (goneAs) => {
    it('leads to a list by difference', async () => {
      api.faults.goneAs = goneAs;
      for (const name of ['same', 'changed', 'gone']) api.put(service(name));
      const { sink } = await startSynced();
      const before = sink.calls.length;
      await api.close();
      api.remove('v1', 'Service', { name: 'gone' });
      api.patch('v1', 'Service', { name: 'changed' }, { spec: { clusterIP: '172.30.0.9' } });
      api.put(service('new'));
      api.compact();
      await api.open();
      await until(() => api.openWatches === 4);
      await until(() => sink.calls.length === before + 3);
      expect(sink.calls.slice(before).sort()).toEqual([
        'applied Service default/changed',
        'applied Service default/new',
        'deleted Service default/gone',
      ]);
      const relist = api.requestsOf('list', SERVICES).at(-1)!.query;
      expect(relist.resourceVersionMatch).toBe('NotOlderThan');
      expect(Number(relist.resourceVersion)).toBeGreaterThan(0);
      expect(sink.kindsSynced.filter((kind) => kind === 'Service')).toHaveLength(1);
    });
  });

  it('lists without a version when the server knows less than before', async () => {
    api.put(service('web'));
    const { sink } = await startSynced();
    await api.close();
    api.store.remove(SERVICES, 'default', 'web');
    // Storage restored from an old backup: the version counter is behind what the proxy has seen.
    api.store.version = 500;
    api.store.compacted = 500;
    api.put(service('restored'));
    api.faults.fail({ status: 410, reason: 'Expired', match: SERVICES, times: 1 });
    await api.open();
    await until(
      () => sink.objects.has('Service default/restored') && !sink.objects.has('Service default/web'),
    );
    expect(api.requestsOf('list', SERVICES).at(-1)!.query.resourceVersion).toBeUndefined();
  });

  describe('failures', () => {
    it('a server that is down at the start is waited for, with growing delays', async () => {
      await api.close();
      await start({ backoff: { initial: 20, maximum: 200, resetAfter: 60_000 } });
      const waits = (): number[] =>
        setup.logger.lines
          .filter(({ facts, message }) => facts.kind === 'Service' && message.includes('failed'))
          .map(({ facts }) => facts.wait as number);
      await until(() => waits().length > 4 && Math.max(...waits()) > 100);
      expect(waits()[0]).toBeLessThanOrEqual(20);
      expect(Math.max(...waits())).toBeLessThanOrEqual(200);
      expect(
        setup.logger.matching('warn', 'failed').filter(({ facts }) => facts.kind === 'Service'),
      ).toHaveLength(1);
      expect(setup.source.status().find(({ kind }) => kind === 'Service')).toMatchObject({
        state: expect.stringMatching(/backing-off|listing/),
        connected: false,
        synced: false,
        failure: expect.stringContaining('ECONNREFUSED'),
      });
      api.put(service('web'));
      await api.open();
      await until(() => setup.sink.kindsSynced.length === 4);
      expect(setup.sink.names('Service')).toEqual(['Service default/web']);
      expect(setup.logger.matching('info', 'recovered').length).toBeGreaterThan(0);
      const status = setup.source.status().find(({ kind }) => kind === 'Service')!;
      expect(status).toMatchObject({ synced: true, objects: 1 });
      expect(status.failure).toBeUndefined();
    });

    it('500 is retried', async () => {
      api.faults.fail({ status: 500, times: 3, match: SLICES });
      await startSynced();
      expect(setup.logger.matching('warn', 'failed')).toHaveLength(1);
      expect(setup.logger.matching('warn', 'failed')[0]!.facts).toMatchObject({
        kind: 'EndpointSlice',
        failures: 1,
      });
    });

    it.each([
      ['a Status', { kind: 'Status', metadata: { resourceVersion: '5000' }, status: 'Success' }],
      ['a list of another kind', { kind: 'NodeList', metadata: { resourceVersion: '5000' }, items: [] }],
      ['a list without items', { kind: 'ServiceList', metadata: { resourceVersion: '5000' } }],
      ['a page of text', '<html>Sign in</html>'],
    ])('%s in place of a list deletes nothing', async (_, body) => {
      api.put(service('web'));
      const { sink, logger } = await startSynced();
      await until(() => api.openWatches === 4);
      api.faults.fail({ status: 200, body, match: SERVICES, times: 1 });
      api.expireWatches();
      await until(() => logger.matching('warn', 'failed').some(({ facts }) => facts.kind === 'Service'));
      const { error } = logger
        .matching('warn', 'failed')
        .find(({ facts }) => facts.kind === 'Service')!.facts;
      expect(error).toMatch(/not a valid ServiceList/);
      await until(() => api.openWatches === 4);
      expect(sink.calls.filter((call) => call.includes('web'))).toEqual(['applied Service default/web']);
    });

    it('a server that does not answer is given up and tried again', async () => {
      api.faults.delay = 400;
      await start({}, { response: 100 });
      await until(() => setup.logger.matching('warn', 'failed').length === 4);
      expect(setup.logger.matching('warn', 'failed')[0]!.facts.error).toMatch(/no response within 100 ms/);
      api.faults.clear();
      await until(() => setup.sink.kindsSynced.length === 4);
    });

    it('an answer that ends at once counts as a failure', async () => {
      await startSynced({ watchTooShort: 10_000 });
      api.endWatches();
      await until(() => setup.logger.matching('warn', 'failed').length === 4);
      expect(setup.logger.matching('warn', 'failed')[0]!.facts.error).toMatch(/ended the watch at once/);
    });
  });

  describe('clusters that lack something', () => {
    it('ServiceCIDRs that are not offered count as synced, are logged once and requested again', async () => {
      api.missing.add('/apis/networking.k8s.io/v1');
      const { sink, logger } = await start();
      await until(() => sink.kindsSynced.length === 4);
      await until(() => api.requestsOf('list', '/apis/networking.k8s.io/v1/servicecidrs').length >= 3);
      const lines = logger.matching('info', 'does not offer');
      expect(lines).toHaveLength(1);
      // At random, so that the nodes of a cluster do not ask together: up to twice the time that is configured.
      expect(lines[0]!.facts.retryMilliseconds).toBeGreaterThanOrEqual(150);
      expect(lines[0]!.facts.retryMilliseconds).toBeLessThanOrEqual(300);
      expect(logger.matching('warn', '')).toEqual([]);
      api.missing.clear();
      const cidr = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: 'late' } };
      api.put(cidr);
      await until(() => sink.objects.has('ServiceCIDR late'));
    });

    it('a Service list that is not found is a failure', async () => {
      api.missing.add(SERVICES);
      const { sink, logger } = await start();
      await until(() => sink.kindsSynced.length === 3 && logger.matching('warn', 'failed').length === 1);
      expect(sink.kindsSynced).not.toContain('Service');
    });

    it('Endpoints stand in for EndpointSlices, until those are offered', async () => {
      api.missing.add('/apis/discovery.k8s.io/v1');
      api.put({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web' }, subsets: [] });
      api.put({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'headless', labels: { 'service.kubernetes.io/headless': '' } },
      });
      api.put(slice('web-1'));
      const { sink } = await start();
      await until(() => sink.kindsSynced.includes('EndpointSlice'));
      expect(sink.kindsSynced).toContain('Endpoints');
      expect(sink.names('Endpoints')).toEqual(['Endpoints default/web']);
      api.missing.clear();
      await until(() => sink.names('Endpoints').length === 0);
      expect(sink.names('EndpointSlice')).toEqual(['EndpointSlice default/web-1']);
      const order = [
        sink.calls.indexOf('applied EndpointSlice default/web-1'),
        sink.calls.indexOf('deleted Endpoints default/web'),
      ];
      expect(order[0]).toBeLessThan(order[1]!);
    });
  });

  describe('stop', () => {
    it('releases sockets and timers, and delivers nothing more', async () => {
      const { source, sink, clock } = await startSynced();
      expect(api.openConnections).toBeGreaterThan(0);
      await source.stop();
      await until(() => api.openConnections === 0);
      expect(clock.open.size).toBe(0);
      expect(source.status().map(({ state }) => state)).toEqual(['stopped', 'stopped', 'stopped', 'stopped']);
      const calls = sink.calls.length;
      api.put(service('late'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(sink.calls).toHaveLength(calls);
      await source.stop();
    });

    it('comes by the signal too, also while waiting to retry', async () => {
      await api.close();
      setup = setUp(
        { kubeconfig: await writeKubeconfig(api) },
        { backoff: { initial: 60_000, maximum: 60_000, resetAfter: 1 } },
      );
      const abort = new AbortController();
      await setup.source.start(setup.sink, abort.signal);
      await until(() => setup.source.status().every(({ state }) => state === 'backing-off'));
      abort.abort();
      await until(() => setup.source.status().every(({ state }) => state === 'stopped'));
      expect(setup.clock.open.size).toBe(0);
    });
  });
});
