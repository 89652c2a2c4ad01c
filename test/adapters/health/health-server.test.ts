import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { RecordingMetrics } from '../../support/fakes/recording-metrics.js';
import { HealthServer } from '../../../src/adapters/health/health-server.js';
import { ProxyHealth } from '../../../src/application/health/proxy-health.js';
import { Readiness } from '../../../src/application/health/readiness.js';
import type { SourceStatus } from '../../../src/application/ports/cluster-source.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';

const START = Date.parse('2026-05-04T10:00:00Z');
let clock: FakeClock;
let health: ProxyHealth;
let metrics: RecordingMetrics;
let server: HealthServer;
let sources: SourceStatus[];

beforeEach(async () => {
  clock = new FakeClock(START);
  sources = [];
  health = new ProxyHealth(clock, 60_000, () => sources);
  metrics = new RecordingMetrics();
  const logger = new MemoryLogger();
  server = new HealthServer({
    health,
    readiness: new Readiness(
      health,
      new ServiceStatuses(),
      () => [],
      () => [],
      () => [],
      clock,
    ),
    metrics,
    logger,
    clock,
    address: { host: '0.0.0.0', port: 0 },
    hardFail: true,
  });
  await server.start();
});

afterEach(() => server.stop());

const get = (path: string, host = '127.0.0.1', method = 'GET'): Promise<Response> =>
  fetch(`http://${host}:${server.port}${path}`, { method });

describe('HealthServer', () => {
  it('says why it is not healthy before the first sync, and is alive', async () => {
    const start = await get('/healthz');
    expect(start.status).toBe(503);
    expect(await start.json()).toEqual({
      lastUpdated: '0001-01-01T00:00:00Z',
      currentTime: '2026-05-04T10:00:00Z',
      nodeEligible: false,
      healthy: false,
      reason: 'the sync loop has not started; the node is not eligible for traffic',
    });
    health.loopStarted('IPv4');
    const live = await get('/livez');
    expect([live.status, await live.json()]).toEqual([
      200,
      {
        lastUpdated: '2026-05-04T10:00:00Z',
        currentTime: '2026-05-04T10:00:00Z',
        healthy: true,
        status: { IPv4: { lastUpdated: '0001-01-01T00:00:00Z', healthy: true } },
      },
    ]);
    expect(metrics.calls).toEqual([
      ['probed', 'healthz', 503],
      ['probed', 'livez', 200],
    ]);
  });

  it('answers as kube-proxy does when all is well', async () => {
    health.finished('IPv4', { ok: true });
    health.setNodeEligible(true);
    clock.advance(1_250);
    const response = await get('/healthz?verbose', '127.0.0.1', 'POST');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toBe(
      '{"lastUpdated":"2026-05-04T10:00:01.25Z","currentTime":"2026-05-04T10:00:01.25Z","nodeEligible":true,' +
        '"healthy":true,"status":{"IPv4":{"lastUpdated":"2026-05-04T10:00:00Z","healthy":true}}}',
    );
    expect(metrics.calls).toEqual([['probed', 'healthz', 200]]);
  });

  it('refuses traffic for a node that is not eligible, but stays alive', async () => {
    health.finished('IPv4', { ok: true });
    clock.advance(131_000);
    const healthz = await get('/healthz');
    expect(healthz.status).toBe(503);
    expect(await healthz.text()).toBe(
      '{"lastUpdated":"2026-05-04T10:00:00Z","currentTime":"2026-05-04T10:02:11Z","nodeEligible":false,"healthy":true,' +
        '"status":{"IPv4":{"lastUpdated":"2026-05-04T10:00:00Z","healthy":true}},"reason":"the node is not eligible for traffic"}',
    );
    const livez = await get('/livez');
    expect(livez.status).toBe(200);
    expect(await livez.json()).not.toHaveProperty('nodeEligible');
  });

  it('turns unhealthy when a sync is overdue', async () => {
    health.finished('IPv4', { ok: true });
    health.finished('IPv6', { ok: true });
    health.setNodeEligible(true);
    health.queued('IPv6');
    clock.advance(60_000);
    for (const path of ['/healthz', '/livez']) {
      const response = await get(path);
      expect(response.status).toBe(503);
      expect(await response.json()).toEqual({
        lastUpdated: '2026-05-04T10:00:00Z',
        currentTime: '2026-05-04T10:01:00Z',
        ...(path === '/healthz' && { nodeEligible: true }),
        healthy: false,
        status: {
          IPv4: { lastUpdated: '2026-05-04T10:00:00Z', healthy: true },
          IPv6: { lastUpdated: '2026-05-04T10:00:00Z', healthy: false },
        },
        reason: 'IPv6: a sync has been due for 60 s',
      });
    }
  });

  it('shows a watch that hangs, and is not ready then', async () => {
    health.finished('IPv4', { ok: true });
    health.setNodeEligible(true);
    expect(await (await get('/readyz')).json()).toMatchObject({ ready: true });
    const watch = { kind: 'Service', state: 'watching', synced: true, connected: true, objects: 1 } as const;
    sources = [{ ...watch, lastActivity: clock.now() }];
    clock.advance(240_000);
    const healthz = await get('/healthz');
    expect(healthz.status).toBe(200);
    const stale = 'the watch has been idle for 240 s';
    expect(await healthz.json()).toMatchObject({ healthy: true, stale: { Service: stale } });
    const readyz = await get('/readyz');
    expect(readyz.status).toBe(503);
    expect(readyz.headers.get('content-type')).toBe('application/json');
    expect(await readyz.json()).toEqual({
      ready: false,
      currentTime: '2026-05-04T10:04:00Z',
      checks: {
        'caches-synced': { ok: true },
        sources: { ok: true },
        'first-sync': { ok: true },
        sync: { ok: true },
        services: { ok: true },
        watches: { ok: false, reason: `Service: ${stale}` },
        'other-modes': { ok: true },
      },
    });
  });

  it('answers on both families and knows no other path', async () => {
    expect((await get('/healthz', '[::1]')).status).toBe(503);
    expect((await get('/')).status).toBe(404);
    expect((await get('/healthz/')).status).toBe(404);
    expect(metrics.of('probed')).toEqual([['healthz', 503]]);
  });
});
