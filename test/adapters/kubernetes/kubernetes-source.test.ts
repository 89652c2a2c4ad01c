import { RELEASES } from '../../support/api-server/release.js';
import { node, SERVERS, service, slice, understood, until, useServedSource } from './harness.js';

const SERVICES = '/api/v1/services';
const SLICES = '/apis/discovery.k8s.io/v1/endpointslices';

const served = useServedSource();

describe.each(SERVERS.filter(({ streamLists }) => streamLists))(
  '$version over $encoding',
  ({ version, encoding }) => {
    beforeEach(() => served.open(encoding, version));

    describe('the initial list', () => {
      it('comes in pages and is complete before synced', async () => {
        for (let n = 10; n < 20; n++) served.api.put(service(`svc-${n}`));
        const { sink } = await served.startSynced();
        expect(sink.names('Service')).toHaveLength(10);
        const calls = sink.calls.filter((call) => call.includes('Service ') || call === 'synced Service');
        expect(calls.indexOf('synced Service')).toBe(10);
        const lists = served.requestsOfServices('list').map(({ query }) => query);
        expect(lists.map(({ limit, resourceVersion }) => [limit, resourceVersion])).toEqual([
          ['4', '0'],
          ['4', undefined],
          ['4', undefined],
        ]);
        expect(lists[1]!.continue).toBeTruthy();
      });

      it('copes with a server that ignores the limit', async () => {
        served.api.faults.ignoreLimitAtZero = true;
        // More than is sent uncompressed.
        for (let n = 0; n < 300; n++) served.api.put(service(`svc-${n}`, { type: 'ä"\\{]'.repeat(100) }));
        const { sink } = await served.startSynced();
        expect(sink.names('Service')).toHaveLength(300);
        expect((sink.objects.get('Service default/svc-7') as { spec?: unknown }).spec).toMatchObject({
          type: 'ä"\\{]'.repeat(100),
        });
        expect(served.requestsOfServices('list')).toHaveLength(1);
      });

      it('has kube-proxy’s selectors', async () => {
        served.api.put(service('plain'));
        served.api.put(service('headless', { clusterIP: 'None' }));
        served.api.put(service('foreign', {}, { 'service.kubernetes.io/service-proxy-name': '' }));
        served.api.put(served.endpoints('plain-1'));
        served.api.put(served.endpoints('headless-1', { 'service.kubernetes.io/headless': '' }));
        served.api.put(node('node-a'));
        served.api.put(node('node-b'));
        served.api.put({
          apiVersion: 'networking.k8s.io/v1',
          kind: 'ServiceCIDR',
          metadata: { name: 'kubernetes' },
          spec: { cidrs: ['172.30.0.0/16'] },
        });
        const { sink } = await served.startSynced();
        expect([...sink.objects.keys()].sort()).toEqual([
          `${served.endpointsKind} default/plain-1`,
          'Node node-a',
          'Service default/plain',
          ...(served.kinds === 4 ? ['ServiceCIDR kubernetes'] : []),
        ]);
      });

      it('is begun again without pages when it expires between them', async () => {
        for (let n = 0; n < 10; n++) served.api.put(service(`svc-${n}`));
        served.api.faults.fail({ status: 410, reason: 'Expired', match: 'continue=', times: 1 });
        const { sink } = await served.startSynced();
        expect(sink.names('Service')).toHaveLength(10);
        expect(sink.calls.filter((call) => call === 'applied Service default/svc-0')).toHaveLength(1);
        const last = served.requestsOfServices('list').at(-1)!.query;
        expect(last.limit).toBeUndefined();
        expect(last.continue).toBeUndefined();
      });
    });

    describe('a watch', () => {
      it('delivers additions, changes and removals', async () => {
        const { sink } = await served.startSynced();
        served.api.put(service('web'));
        await until(() => sink.objects.has('Service default/web'));
        served.api.patch('v1', 'Service', { name: 'web' }, { spec: { clusterIP: '172.30.0.9' } });
        await until(() => JSON.stringify(sink.objects.get('Service default/web')).includes('172.30.0.9'));
        served.api.remove('v1', 'Service', { name: 'web' });
        await until(() => !sink.objects.has('Service default/web'));
        expect(served.requestsOfServices('list')).toHaveLength(1);
      });

      it('delivers an object that begins to match the exclusion as deleted', async () => {
        served.api.put(service('web'));
        const { sink } = await served.startSynced();
        const labels = { 'service.kubernetes.io/service-proxy-name': 'other' };
        served.api.patch('v1', 'Service', { name: 'web' }, { metadata: { labels } });
        await until(() => !sink.objects.has('Service default/web'));
      });

      it('is resumed from the last bookmark, without a list', async () => {
        served.api.put(service('web'));
        const { sink } = await served.startSynced();
        served.api.store.bump(50);
        // Later than what came before, by the clock that the source reads.
        await new Promise((resolve) => setTimeout(resolve, 5));
        const bookmarked = Date.now();
        served.api.bookmark();
        const version = String(served.api.store.version);
        await until(() =>
          served.setup.source
            .status()
            .every(({ state, lastActivity = 0 }) => state === 'absent' || lastActivity >= bookmarked),
        );
        served.api.compact();
        served.api.endWatches();
        await until(() => served.requestsOfServices('watch').length === 2);
        expect(served.requestsOfServices('watch')[1]!.query).toMatchObject({
          resourceVersion: version,
          allowWatchBookmarks: 'true',
        });
        served.api.put(service('later'));
        await until(() => sink.objects.has('Service default/later'));
        // A watch that lasts is followed by a list of one object, which checks for a restored storage.
        const lists = served.requestsOfServices('list').filter(({ query }) => query.limit !== '1');
        expect(lists).toHaveLength(1);
      });

      it('asks the server to end it after its time', async () => {
        await served.startSynced({ watchMinimum: 1000, watchMaximum: 1000 });
        expect(served.requestsOfServices('watch')[0]!.query.timeoutSeconds).toBe('1');
        await until(() => served.requestsOfServices('watch').length === 2);
        expect(served.setup.logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
        expect(served.requestsOfServices('list')).toHaveLength(1);
      });

      const watchesBegun = (): number =>
        understood(served.api.requests).filter(({ verb }) => verb === 'watch').length;

      it('with an unreadable event is resumed, and listed when it comes again', async () => {
        const { sink, logger } = await served.startSynced();
        served.api.sendRaw(encoding === 'JSON' ? '{"type":"ADDED","object":{\n' : '\0\0\0\x02\n\x09');
        await until(() => logger.matching('warn', 'failed').length === served.kinds);
        expect(logger.matching('warn', 'failed')[0]!.facts.error).toMatch(
          encoding === 'JSON' ? /not valid JSON/ : /a length beyond the end/,
        );
        // The second watches, with the first ones closed: the line is to come on those.
        await until(() => watchesBegun() === 2 * served.kinds && served.api.openWatches === served.kinds);
        expect(served.requestsOfServices('list')).toHaveLength(1);
        served.api.sendRaw('nonsense\n');
        await until(() => served.requestsOfServices('list').length === 2);
        served.api.put(service('web'));
        await until(() => sink.objects.has('Service default/web'));
      });
    });
  },
);

describe.each(RELEASES)('%s', (version) => {
  beforeEach(() => served.open('protobuf', version));

  describe('failures', () => {
    it('a server that is down at the start is waited for, with growing delays', async () => {
      await served.api.close();
      await served.start({ backoff: { initial: 20, maximum: 200, resetAfter: 60_000 } });
      const waits = (): number[] =>
        served.setup.logger.lines
          .filter(({ facts, message }) => facts.kind === 'Service' && message.includes('failed'))
          .map(({ facts }) => facts.wait as number);
      await until(() => waits().length > 4 && Math.max(...waits()) > 100);
      expect(waits()[0]).toBeLessThanOrEqual(20);
      expect(Math.max(...waits())).toBeLessThanOrEqual(200);
      expect(
        served.setup.logger.matching('warn', 'failed').filter(({ facts }) => facts.kind === 'Service'),
      ).toHaveLength(1);
      expect(served.setup.source.status().find(({ kind }) => kind === 'Service')).toMatchObject({
        state: expect.stringMatching(/backing-off|listing/),
        connected: false,
        synced: false,
        failure: expect.stringContaining('ECONNREFUSED'),
      });
      served.api.put(service('web'));
      await served.api.open();
      await until(() => served.synced);
      expect(served.setup.sink.names('Service')).toEqual(['Service default/web']);
      expect(served.setup.logger.matching('info', 'recovered').length).toBeGreaterThan(0);
      const status = served.setup.source.status().find(({ kind }) => kind === 'Service')!;
      expect(status).toMatchObject({ synced: true, objects: 1 });
      expect(status.failure).toBeUndefined();
    });

    it('500 is retried', async () => {
      served.api.faults.fail({ status: 500, times: 3, match: SLICES });
      await served.startSynced();
      expect(served.setup.logger.matching('warn', 'failed')).toHaveLength(1);
      expect(served.setup.logger.matching('warn', 'failed')[0]!.facts).toMatchObject({
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
      served.api.put(service('web'));
      const { sink, logger } = await served.startSynced();
      await until(() => served.api.openWatches === served.kinds);
      served.api.faults.fail({ status: 200, body, match: SERVICES, times: 1 });
      served.api.expireWatches();
      await until(() => logger.matching('warn', 'failed').some(({ facts }) => facts.kind === 'Service'));
      const { error } = logger
        .matching('warn', 'failed')
        .find(({ facts }) => facts.kind === 'Service')!.facts;
      expect(error).toMatch(/not a valid ServiceList/);
      await until(() => served.api.openWatches === served.kinds);
      expect(sink.calls.filter((call) => call.includes('web'))).toEqual(['applied Service default/web']);
    });

    it('a server that does not answer is given up and tried again', async () => {
      served.api.faults.delay = 400;
      await served.start({}, { response: 100 });
      await until(() => served.setup.logger.matching('warn', 'failed').length === 4);
      expect(served.setup.logger.matching('warn', 'failed')[0]!.facts.error).toMatch(
        /no response within 100 ms/,
      );
      served.api.faults.clear();
      await until(() => served.synced);
    });

    it('an answer that ends at once counts as a failure', async () => {
      await served.startSynced({ watchTooShort: 10_000 });
      served.api.endWatches();
      await until(() => served.setup.logger.matching('warn', 'failed').length === served.kinds);
      expect(served.setup.logger.matching('warn', 'failed')[0]!.facts.error).toMatch(
        /ended the watch immediately/,
      );
    });
  });

  describe('clusters that lack something', () => {
    it('ServiceCIDRs that are not offered count as synced, are logged once and requested again', async () => {
      served.api.missing.add('/apis/networking.k8s.io/v1');
      const { sink, logger } = await served.start();
      await until(() => served.synced);
      await until(() => served.api.requestsOf('list', '/apis/networking.k8s.io/v1/servicecidrs').length >= 3);
      const lines = logger
        .matching('info', 'does not offer')
        .filter(({ facts }) => facts.kind === 'ServiceCIDR');
      expect(lines).toHaveLength(1);
      // At random, so that the nodes of a cluster do not ask together: up to twice the time that is configured.
      expect(lines[0]!.facts.retryMilliseconds).toBeGreaterThanOrEqual(150);
      expect(lines[0]!.facts.retryMilliseconds).toBeLessThanOrEqual(300);
      expect(logger.matching('warn', '')).toEqual([]);
      served.api.missing.clear();
      served.api.version = '1.38';
      const cidr = { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: 'late' } };
      served.api.put(cidr);
      await until(() => sink.objects.has('ServiceCIDR late'));
    });

    it('a Service list that is not found is a failure', async () => {
      served.api.missing.add(SERVICES);
      const { sink, logger } = await served.start();
      await until(() => logger.matching('warn', 'failed').length === 1);
      await until(() =>
        ['Node', 'EndpointSlice', 'ServiceCIDR'].every((kind) => sink.kindsSynced.includes(kind as never)),
      );
      expect(sink.kindsSynced).not.toContain('Service');
    });

    it('Endpoints stand in for EndpointSlices, until those are offered', async () => {
      served.api.missing.add('/apis/discovery.k8s.io/v1');
      served.api.put({ apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web' }, subsets: [] });
      served.api.put({
        apiVersion: 'v1',
        kind: 'Endpoints',
        metadata: { name: 'headless', labels: { 'service.kubernetes.io/headless': '' } },
      });
      served.api.put(slice('web-1'));
      const { sink } = await served.start();
      await until(() => sink.kindsSynced.includes('EndpointSlice'));
      expect(sink.kindsSynced).toContain('Endpoints');
      expect(sink.names('Endpoints')).toEqual(['Endpoints default/web']);
      served.api.missing.clear();
      served.api.version = '1.38';
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
      const { source, sink, clock } = await served.startSynced();
      expect(served.api.openConnections).toBeGreaterThan(0);
      await source.stop();
      await until(() => served.api.openConnections === 0);
      expect(clock.open.size).toBe(0);
      expect(new Set(source.status().map(({ state }) => state))).toEqual(new Set(['stopped']));
      const calls = sink.calls.length;
      served.api.put(service('late'));
      await new Promise((resolve) => setTimeout(resolve, 50));
      expect(sink.calls).toHaveLength(calls);
      await source.stop();
    });

    it('comes by the signal too, also while waiting to retry', async () => {
      await served.api.close();
      const abort = new AbortController();
      await served.start({ backoff: { initial: 60_000, maximum: 60_000, resetAfter: 1 } }, {}, abort.signal);
      await until(() => served.setup.source.status().every(({ state }) => state === 'backing-off'));
      abort.abort();
      await until(() => served.setup.source.status().every(({ state }) => state === 'stopped'));
      expect(served.setup.clock.open.size).toBe(0);
    });
  });
});
