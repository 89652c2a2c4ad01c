import { StandInApiServer } from '../../support/api-server/api-server.js';
import { makeCertificates, type Certificates } from '../../support/api-server/certificates.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import { service, setUp, until, type Setup } from './harness.js';

const SERVICES = '/api/v1/services';

let certificates: Certificates;
let api: StandInApiServer;
let setup: Setup;

beforeAll(async () => {
  certificates = await makeCertificates();
});

beforeEach(async () => {
  api = await StandInApiServer.start(certificates);
  api.put(service('web'));
});

afterEach(async () => {
  await setup?.source.stop();
  expect(setup.clock.open.size).toBe(0);
  await api.close();
});

async function start(streamLists: boolean): Promise<void> {
  setup = setUp({ kubeconfig: await writeKubeconfig(api) }, { streamLists });
  await setup.source.start(setup.sink, new AbortController().signal);
}

async function synced(): Promise<void> {
  await until(() => setup.sink.kindsSynced.length === 4 && api.openWatches === 4);
}

/** Requests for Services that were refused or accepted, in order. */
const requests = () => api.requests.filter(({ path }) => path === SERVICES);

describe.each([
  ['429', 'TooManyRequests'],
  ['500', 'InternalError'],
  ['503', 'ServiceUnavailable'],
])('a server that answers %s with Retry-After is given that time', (status, reason) => {
  const refusal = { status: Number(status), reason, retryAfter: 1, times: 1, match: SERVICES };

  it.each([
    ['a streamed list', true],
    ['a list in pages', false],
  ])('for %s', async (_, streamLists) => {
    api.faults.fail(refusal);
    await start(streamLists);
    await synced();
    const [refused, accepted] = requests();
    expect(refused!.status).toBe(refusal.status);
    expect(accepted).toMatchObject({ verb: streamLists ? 'watch' : 'list', status: 200 });
    expect(accepted!.at - refused!.at).toBeGreaterThanOrEqual(990);
    expect(setup.sink.objects.has('Service default/web')).toBe(true);
  });

  it('for a watch, which goes on where it was', async () => {
    await start(false);
    await synced();
    const before = requests().length;
    api.faults.fail({ ...refusal, match: `${SERVICES}?` });
    api.disconnectWatches();
    await until(() => requests().length === before + 2);
    const [refused, accepted] = requests().slice(before);
    expect(refused).toMatchObject({ verb: 'watch', status: refusal.status });
    expect(accepted).toMatchObject({
      verb: 'watch',
      query: { resourceVersion: refused!.query.resourceVersion },
    });
    expect(accepted!.at - refused!.at).toBeGreaterThanOrEqual(990);
  });
});

it('a page that is refused is asked for again, without those before it', async () => {
  for (let n = 0; n < 10; n++) api.put(service(`svc-${n}`));
  api.faults.fail({ status: 429, reason: 'TooManyRequests', retryAfter: 0, times: 2, match: 'continue=' });
  await start(false);
  await synced();
  expect(setup.sink.names('Service')).toHaveLength(11);
  const lists = requests().filter(({ verb }) => verb === 'list');
  expect(lists.map(({ status }) => status)).toEqual([200, 429, 429, 200, 200]);
  expect(lists.filter(({ query }) => query.continue === undefined)).toHaveLength(1);
});

it('an event ERROR inside a watch asks for time, too', async () => {
  api.speaksProtobuf = false;
  await start(true);
  await synced();
  const details = { retryAfterSeconds: 1 };
  const object = { kind: 'Status', code: 429, reason: 'TooManyRequests', message: 'later', details };
  api.sendRaw(`${JSON.stringify({ type: 'ERROR', object })}\n`);
  await until(() => setup.logger.matching('warn', 'failed').length === 4);
  for (const { facts } of setup.logger.matching('warn', 'failed')) {
    expect(facts.wait).toBeGreaterThanOrEqual(1000);
    expect(facts.wait).toBeLessThanOrEqual(1000 + 20);
  }
});

it('no server makes a node wait for longer than a minute and the back-off', async () => {
  api.faults.fail({ status: 429, reason: 'TooManyRequests', retryAfter: 86_400, times: 1, match: SERVICES });
  await start(true);
  await until(() => setup.logger.matching('warn', 'failed').length === 1);
  const { wait } = setup.logger.matching('warn', 'failed')[0]!.facts;
  expect(wait).toBeGreaterThanOrEqual(60_000);
  expect(wait).toBeLessThanOrEqual(60_000 + 20);
});

describe('a watch that ended', () => {
  const resumed = (before: number) => requests().slice(before);

  it('before its time, as when a server shuts down, is resumed after a random time and is no failure', async () => {
    setup = setUp(
      { kubeconfig: await writeKubeconfig(api) },
      { backoff: { initial: 60_000, maximum: 60_000, resetAfter: 1 } },
    );
    await setup.source.start(setup.sink, new AbortController().signal);
    await synced();
    // A watch that ends at once is a failure.
    await new Promise((resolve) => setTimeout(resolve, 50));
    const before = requests().length;
    api.endWatches();
    await until(() => setup.source.status().every(({ state }) => state === 'backing-off'));
    expect(resumed(before)).toEqual([]);
    expect(setup.logger.matching('warn', 'failed')).toEqual([]);
    expect(setup.source.status().map(({ failure }) => failure)).toEqual(Array(4).fill(undefined));
  });

  it('at its time is resumed at once', async () => {
    setup = setUp(
      { kubeconfig: await writeKubeconfig(api) },
      {
        // The server counts in whole seconds: it ends the watch later than the client expects, never earlier.
        watchMinimum: 500,
        watchMaximum: 500,
        backoff: { initial: 60_000, maximum: 60_000, resetAfter: 1 },
      },
    );
    await setup.source.start(setup.sink, new AbortController().signal);
    await synced();
    const before = requests().length;
    await until(() => resumed(before).length >= 2);
    expect(setup.source.status().every(({ state }) => state !== 'backing-off')).toBe(true);
  });
});
