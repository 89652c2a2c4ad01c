import { Release } from '../../support/api-server/release.js';
import { atEachRelease, service, understood, until, type ServedSource } from './harness.js';

const SERVICES = '/api/v1/services';

const withService = (act: (served: ServedSource) => Promise<void>): Promise<void> =>
  atEachRelease((served) => {
    served.api.put(service('web'));
    return act(served);
  });

const synced = (served: ServedSource): Promise<void> =>
  until(() => served.synced && served.api.openWatches === served.kinds);

/** Requests for Services that were refused or accepted, in order. */
const requests = (served: ServedSource) =>
  understood(served.api.requests).filter(({ path }) => path === SERVICES);

describe.each([
  ['429', 'TooManyRequests'],
  ['500', 'InternalError'],
  ['503', 'ServiceUnavailable'],
])('a server that answers %s with Retry-After is given that time', (status, reason) => {
  const refusal = { status: Number(status), reason, retryAfter: 1, times: 1, match: SERVICES };

  it.each([
    ['a streamed list', true],
    ['a list in pages', false],
  ])('for %s', (_, streamLists) =>
    withService(async (served) => {
      served.api.faults.fail(refusal);
      await served.start({ streamLists });
      await synced(served);
      const [refused, accepted] = requests(served);
      expect(refused!.status).toBe(refusal.status);
      const { streamsLists } = Release.of(served.api.versions[0]!);
      expect(accepted).toMatchObject({ verb: streamLists && streamsLists ? 'watch' : 'list', status: 200 });
      expect(accepted!.at - refused!.at).toBeGreaterThanOrEqual(990);
      expect(served.setup.sink.objects.has('Service default/web')).toBe(true);
    }),
  );

  it('for a watch, which goes on where it was', () =>
    withService(async (served) => {
      await served.start({ streamLists: false });
      await synced(served);
      const before = requests(served).length;
      served.api.faults.fail({ ...refusal, match: `${SERVICES}?` });
      served.api.disconnectWatches();
      await until(() => requests(served).length === before + 2);
      const [refused, accepted] = requests(served).slice(before);
      expect(refused).toMatchObject({ verb: 'watch', status: refusal.status });
      expect(accepted).toMatchObject({
        verb: 'watch',
        query: { resourceVersion: refused!.query.resourceVersion },
      });
      expect(accepted!.at - refused!.at).toBeGreaterThanOrEqual(990);
    }));
});

it('a page that is refused is asked for again, without those before it', () =>
  withService(async (served) => {
    for (let n = 0; n < 10; n++) served.api.put(service(`svc-${n}`));
    served.api.faults.fail({
      status: 429,
      reason: 'TooManyRequests',
      retryAfter: 0,
      times: 2,
      match: 'continue=',
    });
    await served.start({ streamLists: false });
    await synced(served);
    expect(served.setup.sink.names('Service')).toHaveLength(11);
    const lists = requests(served).filter(({ verb }) => verb === 'list');
    expect(lists.map(({ status }) => status)).toEqual([200, 429, 429, 200, 200]);
    expect(lists.filter(({ query }) => query.continue === undefined)).toHaveLength(1);
  }));

it('an event ERROR inside a watch asks for time, too', () =>
  withService(async (served) => {
    served.api.speaksProtobuf = false;
    await served.start({ streamLists: true });
    await synced(served);
    const details = { retryAfterSeconds: 1 };
    const object = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'later', details };
    served.api.sendRaw(`${JSON.stringify({ type: 'ERROR', object })}\n`);
    await until(() => served.setup.logger.matching('warn', 'failed').length === served.kinds);
    for (const { facts } of served.setup.logger.matching('warn', 'failed')) {
      expect(facts.wait).toBeGreaterThanOrEqual(1000);
      expect(facts.wait).toBeLessThanOrEqual(1000 + 20);
    }
  }));

it('no server makes a node wait for longer than a minute and the back-off', () =>
  withService(async (served) => {
    served.api.faults.fail({
      status: 429,
      reason: 'TooManyRequests',
      retryAfter: 86_400,
      times: 1,
      match: SERVICES,
    });
    await served.start({ streamLists: true });
    await until(() => served.setup.logger.matching('warn', 'failed').length === 1);
    const { wait } = served.setup.logger.matching('warn', 'failed')[0]!.facts;
    expect(wait).toBeGreaterThanOrEqual(60_000);
    expect(wait).toBeLessThanOrEqual(60_000 + 20);
  }));

describe('a watch that ended', () => {
  it('before its time, as when a server shuts down, is resumed after a random time and is no failure', () =>
    withService(async (served) => {
      await served.start({ backoff: { initial: 60_000, maximum: 60_000, resetAfter: 1 } });
      await synced(served);
      const present = () => served.setup.source.status().filter(({ state }) => state !== 'absent');
      // A watch that ends immediately is a failure. The source has a watch only when the answer has arrived.
      await until(() => present().every(({ connected }) => connected));
      await new Promise((resolve) => setTimeout(resolve, 50));
      const before = requests(served).length;
      served.api.endWatches();
      await until(() => present().every(({ state }) => state === 'backing-off'));
      expect(requests(served).slice(before)).toEqual([]);
      expect(served.setup.logger.matching('warn', 'failed')).toEqual([]);
      expect(present().filter(({ failure }) => failure !== undefined)).toEqual([]);
    }));

  it('at its time is resumed at once', () =>
    withService(async (served) => {
      await served.start({
        // The server counts in whole seconds: it ends the watch later than the client expects, never earlier.
        watchMinimum: 500,
        watchMaximum: 500,
        backoff: { initial: 60_000, maximum: 60_000, resetAfter: 1 },
      });
      await synced(served);
      const before = requests(served).length;
      await until(() => requests(served).slice(before).length >= 2);
      expect(served.setup.source.status().every(({ state }) => state !== 'backing-off')).toBe(true);
    }));
});
