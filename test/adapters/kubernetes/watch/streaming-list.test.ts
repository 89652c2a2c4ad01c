import { Release } from '../../../support/api-server/release.js';
import { listsOf, node, SERVERS, service, until, useServedSource, type Setup } from '../harness.js';

const SERVICES = '/api/v1/services';

const served = useServedSource();

describe.each(SERVERS)(
  'a list of $version that is to be streamed over $encoding',
  ({ version, encoding }) => {
    beforeEach(() => served.open(encoding, version));

    const { streamsLists } = Release.of(version);

    const startSynced = (timings = {}): Promise<Setup> =>
      served.startSynced({ streamLists: true, ...timings });

    it('delivers what is there, then what changes; as a stream over one request for each kind', async () => {
      for (let n = 0; n < 10; n++) served.api.put(service(`svc-${n}`));
      served.api.put(served.endpoints('web-1'));
      served.api.put(node('node-a'));
      const { sink } = await startSynced();
      expect(sink.names('Service')).toHaveLength(10);
      expect(sink.calls.indexOf('synced Service')).toBeGreaterThan(
        sink.calls.indexOf('applied Service default/svc-9'),
      );
      served.api.remove('v1', 'Service', { name: 'svc-3' });
      served.api.put(service('new'));
      await until(() => sink.objects.has('Service default/new'));
      expect(sink.objects.has('Service default/svc-3')).toBe(false);
      if (!streamsLists) return expect(served.requestsOfServices('list').length).toBeGreaterThan(0);
      expect(served.api.requests).toHaveLength(4);
      expect(served.api.requestsOf('watch', SERVICES)[0]!.query).toMatchObject({
        sendInitialEvents: 'true',
        resourceVersionMatch: 'NotOlderThan',
        resourceVersion: '0',
        allowWatchBookmarks: 'true',
      });
    });

    it('that is refused comes in pages, then and later', async () => {
      served.api.streamsLists = false;
      for (let n = 0; n < 10; n++) served.api.put(service(`svc-${n}`));
      const { sink, logger } = await startSynced();
      expect(sink.names('Service')).toHaveLength(10);
      expect(served.requestsOfServices('list')).toHaveLength(3);
      served.api.expireWatches();
      await until(() => served.requestsOfServices('list').length === 6);
      await until(() => served.api.openWatches === served.kinds);
      const streamed = served.api
        .requestsOf('watch', SERVICES)
        .filter(({ query }) => query.sendInitialEvents);
      expect(streamed).toHaveLength(1);
      expect(logger.lines.filter(({ level }) => level === 'warn')).toEqual([]);
    });

    it('that never ends is replaced by pages', async () => {
      served.api.faults.withholdListEnd = true;
      served.api.put(service('web'));
      const { sink } = await startSynced({ silenceMinimum: 150, silenceMaximum: 200 });
      expect(sink.names('Service')).toEqual(['Service default/web']);
      expect(served.api.requestsOf('list', SERVICES).length).toBeGreaterThan(0);
    });

    it('that is cut off deletes nothing and is tried again', async () => {
      for (const name of ['a', 'b']) served.api.put(service(name));
      const { sink } = await startSynced();
      served.api.faults.withholdListEnd = true;
      const begun = listsOf(served.api, SERVICES).length;
      served.api.expireWatches();
      await until(
        () => listsOf(served.api, SERVICES).length > begun && served.api.openWatches === served.kinds,
      );
      served.api.faults.withholdListEnd = false;
      served.api.disconnectWatches();
      await until(() =>
        served.setup.source.status().every(({ state }) => state === 'watching' || state === 'absent'),
      );
      expect(sink.calls.filter((call) => call.startsWith('deleted'))).toEqual([]);
      served.api.put(service('later'));
      await until(() => sink.objects.has('Service default/later'));
    });
  },
);
