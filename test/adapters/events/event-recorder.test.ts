import { ApiEventRecorder } from '../../../src/adapters/events/event-recorder.js';
import { eventRequests } from '../../../src/adapters/events/event-requests.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import type { ApiRequest } from '../../../src/adapters/kubernetes/client/api-client.js';
import { ApiClient } from '../../../src/adapters/kubernetes/client/api-client.js';
import { ApiConnectionError, ApiError } from '../../../src/adapters/kubernetes/client/api-error.js';
import { SystemClock } from '../../../src/adapters/process/system-clock.js';
import type { ClusterEvent } from '../../../src/application/ports/event-recorder.js';
import { StandInApiServer } from '../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';

const EVENTS = '/apis/events.k8s.io/v1/namespaces/default/events';
const START = Date.parse('2026-05-04T10:00:00Z');
const MINUTE = 60_000;

function event(reason = 'Starting', note = ''): ClusterEvent {
  const regarding = { kind: 'Node', namespace: '', name: 'node1' } as const;
  return { regarding, type: 'Normal', reason, action: 'StartKubeProxy', note };
}

/** An API server of which only the answers are there. */
class FakeApi {
  readonly requests: { at: number; method: string; path: string; body: Record<string, unknown> }[] = [];
  answer: () => unknown = () => ({});

  constructor(private readonly clock: FakeClock) {}

  async json({ method, path, body, signal }: ApiRequest): Promise<unknown> {
    this.requests.push({
      at: this.clock.now() - START,
      method: method!,
      path,
      body: JSON.parse(body!) as never,
    });
    const result = this.answer();
    if (result instanceof Error) throw result;
    if (result !== 'silence') return result;
    return new Promise((_, reject) =>
      signal!.addEventListener('abort', () => reject(signal!.reason as Error)),
    );
  }

  of(method: string) {
    return this.requests.filter((request) => request.method === method);
  }
}

let clock: FakeClock;
let api: FakeApi;
let logger: MemoryLogger;
let recorder: ApiEventRecorder;

beforeEach(() => {
  clock = new FakeClock(START);
  api = new FakeApi(clock);
  logger = new MemoryLogger();
  recorder = new ApiEventRecorder(
    async () => ({ requests: eventRequests, client: api }),
    'host',
    clock,
    logger,
    () => 0.4,
  );
});
afterEach(async () => {
  const stopped = recorder.stop();
  await clock.advanceAsync(MINUTE);
  await stopped;
  expect(clock.pending).toBe(0);
});

const unreachable = () => new ApiConnectionError('POST', 'refused');

describe('ApiEventRecorder', () => {
  it('posts in the order of recording, each under a name of its own', async () => {
    recorder.record(event('One'));
    recorder.record(event('Two'));
    await clock.advanceAsync(0);
    expect(api.requests.map(({ method, path, body }) => [method, path, body.reason])).toEqual([
      ['POST', EVENTS, 'One'],
      ['POST', EVENTS, 'Two'],
    ]);
    const names = api.requests.map(({ body }) => (body.metadata as { name: string }).name);
    expect(names[0]).toBe(`node1.${(BigInt(START) * 1_000_000n).toString(16)}`);
    expect(new Set(names).size).toBe(2);
  });

  it('tries again about every ten seconds while the server is not there', async () => {
    api.answer = unreachable;
    recorder.record(event('One'));
    recorder.record(event('Two'));
    await clock.advanceAsync(25_000);
    expect(api.requests.map(({ at }) => at)).toEqual([0, 11_000, 22_000]);
    api.answer = () => ({});
    await clock.advanceAsync(11_000);
    expect(api.requests.slice(3).map(({ at, body }) => [at, body.reason])).toEqual([
      [33_000, 'One'],
      [33_000, 'Two'],
    ]);
    expect(logger.at('warn')).toEqual([]);
  });

  it('gives up after twelve attempts, logs it, and continues with the next', async () => {
    api.answer = unreachable;
    recorder.record(event('One'));
    recorder.record(event('Two'));
    await clock.advanceAsync(11 * 11_000);
    expect(api.requests.filter(({ body }) => body.reason === 'One')).toHaveLength(12);
    expect(api.requests.at(-1)!.body.reason).toBe('Two');
    expect(logger.at('warn')).toMatchObject([{ facts: { event: 'One', attempt: 12 } }]);
  });

  it.each([500, 503, 429, 401])('tries again after the answer %i', async (code) => {
    api.answer = () => new ApiError('POST', code, '', '');
    recorder.record(event());
    await clock.advanceAsync(11_000);
    expect(api.requests).toHaveLength(2);
  });

  it.each([400, 403, 404, 422])('does not after status %i, and logs it', async (code) => {
    api.answer = () => new ApiError('POST', code, '', '');
    recorder.record(event());
    await clock.advanceAsync(MINUTE);
    expect([api.requests.length, logger.at('warn').length]).toEqual([1, 1]);
  });

  it('takes an event that is there already for posted', async () => {
    api.answer = () => new ApiError('POST', 409, 'AlreadyExists', '');
    recorder.record(event());
    await clock.advanceAsync(MINUTE);
    expect([api.requests.length, logger.lines]).toEqual([1, []]);
  });

  describe('of identical events', () => {
    it('makes a series: posted at once, then counted and posted every six minutes until it is over', async () => {
      recorder.record(event());
      await clock.advanceAsync(1000);
      recorder.record(event());
      await clock.advanceAsync(1000);
      const [{ body: first }] = api.of('POST') as [(typeof api.requests)[0]];
      expect(api.of('PATCH')).toMatchObject([
        {
          path: `${EVENTS}/${(first.metadata as { name: string }).name}`,
          body: { series: { count: 2, lastObservedTime: '2026-05-04T10:00:01.000000Z' } },
        },
      ]);
      for (let i = 0; i < 5; i++) recorder.record(event());
      await clock.advanceAsync(5 * MINUTE);
      expect(api.requests).toHaveLength(2);
      await clock.advanceAsync(MINUTE);
      expect(api.of('PATCH').at(-1)!.body).toMatchObject({ series: { count: 7 } });
      await clock.advanceAsync(12 * MINUTE);
      expect(api.requests).toHaveLength(3);
      recorder.record(event());
      await clock.advanceAsync(0);
      expect(api.of('POST')).toHaveLength(2);
    });

    it('posts those before the server is there as one', async () => {
      api.answer = unreachable;
      for (let i = 0; i < 3; i++) recorder.record(event());
      await clock.advanceAsync(1000);
      api.answer = () => ({});
      await clock.advanceAsync(11_000);
      expect(api.requests).toHaveLength(2);
      expect(api.requests[1]!.body).toMatchObject({ series: { count: 3 } });
    });

    it('begins another when the first has expired', async () => {
      recorder.record(event());
      await clock.advanceAsync(0);
      api.answer = () => (api.requests.at(-1)!.method === 'PATCH' ? new ApiError('', 404, '', '') : {});
      recorder.record(event());
      await clock.advanceAsync(0);
      const [one, other] = api.of('POST');
      expect(other!.body).toMatchObject({ series: { count: 2 } });
      expect(other!.body.metadata).not.toEqual(one!.body.metadata);
    });

    it('does not take others for them', async () => {
      recorder.record(event('Starting', 'a'));
      recorder.record(event('Starting', 'b'));
      await clock.advanceAsync(0);
      expect(api.of('POST')).toHaveLength(2);
    });
  });

  it('keeps a limited number, drops the rest, and logs it once', async () => {
    api.answer = unreachable;
    for (let i = 0; i < 1000; i++) recorder.record(event('Many', `${i}`));
    await clock.advanceAsync(0);
    expect(logger.at('warn')).toHaveLength(1);
    api.answer = () => ({});
    await clock.advanceAsync(11_000);
    expect(api.requests).toHaveLength(201);
    recorder.record(event('Many', 'later'));
    await clock.advanceAsync(0);
    expect(api.requests.at(-1)!.body.note).toBe('later');
  });

  it('forgets the oldest of very many', async () => {
    for (let i = 0; i < 600; i++) {
      recorder.record(event('Many', `${i}`));
      await clock.advanceAsync(0);
    }
    recorder.record(event('Many', '0'));
    recorder.record(event('Many', '599'));
    await clock.advanceAsync(0);
    expect([api.of('POST').length, api.of('PATCH').length]).toEqual([601, 1]);
  });

  it('gives the last events a second and a half at the end', async () => {
    api.answer = () => 'silence';
    recorder.record(event());
    let stopped = false;
    const stop = recorder.stop().then(() => (stopped = true));
    await clock.advanceAsync(1_499);
    expect(stopped).toBe(false);
    await clock.advanceAsync(1);
    await stop;
    recorder.record(event('Late'));
    await clock.advanceAsync(MINUTE);
    expect(api.requests).toHaveLength(1);
  });
});

it('speaks to an API server: events, series, and what it refuses', async () => {
  const server = await StandInApiServer.start();
  try {
    const systemClock = new SystemClock();
    const client = new ApiClient({ kubeconfig: await writeKubeconfig(server) }, systemClock);
    const real = new ApiEventRecorder(
      async () => ({ requests: eventRequests, client }),
      'host',
      systemClock,
      logger,
    );
    server.faults.fail({ status: 403, match: '/namespaces/shop/', reason: 'Forbidden' });
    const regarding = { kind: 'Service', namespace: 'shop', name: 'cart' } as const;
    real.record({ ...event('Failed'), regarding });
    real.record(event());
    real.record(event());
    const posted = () => server.objects('events.k8s.io/v1', 'Event');
    while (!posted()[0]?.series) await new Promise((resolve) => setTimeout(resolve, 5));
    expect(posted()).toMatchObject([
      {
        metadata: { namespace: 'default', name: expect.stringMatching(/^node1\.[0-9a-f]{16}$/) },
        reportingInstance: 'kube-proxy-host',
        regarding: { kind: 'Node', name: 'node1' },
        series: { count: 2 },
      },
    ]);
    expect(logger.at('warn')).toMatchObject([{ facts: { event: 'Failed', attempt: 1 } }]);
    await real.stop();
    client.close();
  } finally {
    await server.close();
  }
});
