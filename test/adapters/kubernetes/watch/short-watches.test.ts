import type { SourceStatus } from '../../../../src/application/ports/cluster-source.js';
import { SERVERS, listsOf, service, until, useServedSource, versionChecksOf } from '../harness.js';

const SERVICES = '/api/v1/services';

const served = useServedSource();

const services = (): SourceStatus => served.setup.source.status().find(({ kind }) => kind === 'Service')!;

/** Watches that end as soon as they have begun, as behind a balancer when an API server goes down. */
describe.each(SERVERS)(
  '$version over $encoding, streamed lists: $streamLists',
  ({ version, encoding, streamLists }) => {
    beforeEach(() => served.open(encoding, version));

    it('are taken up again at the same version, ever later, without any list', async () => {
      served.api.put(service('web'));
      const { sink, logger } = await served.startSynced({
        streamLists,
        backoff: { initial: 20, maximum: 1000, resetAfter: 10_000 },
      });
      const lists = listsOf(served.api, SERVICES).length;
      const begun = served.api.requestsOf('watch', SERVICES).length;
      served.api.faults.endNewWatches = true;
      served.api.endWatches();
      await until(() => services().shortWatches! >= 6);
      const { lastActivity } = services();
      const waits = (): number[] =>
        logger.lines
          .filter(
            ({ facts }) =>
              facts.kind === 'Service' && /ended the watch immediately/.test(String(facts.error)),
          )
          .map(({ facts }) => Number(facts.wait));
      await until(() => waits().some((wait) => wait > 100));

      expect(listsOf(served.api, SERVICES)).toHaveLength(lists);
      expect(versionChecksOf(served.api)).toEqual([]);
      const versions = served.api.requestsOf('watch', SERVICES).slice(begun);
      expect(new Set(versions.map(({ query }) => query.resourceVersion)).size).toBe(1);
      expect(services().failure).toBe(`watch ${SERVICES}: the server ended the watch immediately`);
      // So that it does not pass for news.
      expect(services().lastActivity).toBe(lastActivity);
      const warnings = logger.matching('warn', 'failed; retrying').map(({ facts }) => facts);
      expect(warnings.filter(({ kind }) => kind === 'Service')).toEqual([
        expect.objectContaining({ error: services().failure, failures: 1 }),
      ]);
      expect(logger.matching('info', 'recovered')).toEqual([]);

      served.api.faults.endNewWatches = false;
      served.api.put(service('later'));
      await until(() => sink.objects.has('Service default/later') && services().failure === undefined);
      expect(logger.matching('info', 'recovered').map(({ facts }) => facts.kind)).toContain('Service');
      await until(() => versionChecksOf(served.api).length > 0);
      expect(listsOf(served.api, SERVICES).filter(({ query }) => query.limit !== '1')).toHaveLength(lists);
    });
  },
);
