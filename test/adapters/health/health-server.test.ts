import { FakeClock } from '../../../src/adapters/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/adapters/fakes/memory-logger.js';
import { RecordingMetrics } from '../../../src/adapters/fakes/recording-metrics.js';
import { HealthServer } from '../../../src/adapters/health/health-server.js';
import { ProxyHealth } from '../../../src/application/health/proxy-health.js';

const START = Date.parse('2026-05-04T10:00:00Z');
let clock: FakeClock;
let health: ProxyHealth;
let metrics: RecordingMetrics;
let server: HealthServer;

beforeEach(async () => {
  clock = new FakeClock(START);
  health = new ProxyHealth(clock, 60_000);
  metrics = new RecordingMetrics();
  const logger = new MemoryLogger();
  server = new HealthServer({
    health,
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
  it('says why it is not healthy before the first sync', async () => {
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
    expect((await get('/livez')).status).toBe(503);
    expect(metrics.calls).toEqual([
      ['healthzAnswered', 503],
      ['livezAnswered', 503],
    ]);
  });

  it('answers as kube-proxy does when all is well', async () => {
    health.updated('IPv4');
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
    expect(metrics.calls).toEqual([['healthzAnswered', 200]]);
  });

  it('refuses traffic for a node that is not eligible, but stays alive', async () => {
    health.updated('IPv4');
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

  it('answers on both families and knows no other path', async () => {
    expect((await get('/livez', '[::1]')).status).toBe(503);
    expect((await get('/')).status).toBe(404);
    expect((await get('/healthz/')).status).toBe(404);
    expect(metrics.of('healthzAnswered')).toEqual([]);
  });
});
