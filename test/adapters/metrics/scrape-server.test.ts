import { request } from 'node:http';
import { HealthSlis } from '../../../src/adapters/metrics/component-metrics.js';
import { metricsRoutes, ScrapeServer } from '../../../src/adapters/metrics/metrics-server.js';
import { PrometheusMetrics } from '../../../src/adapters/metrics/prometheus-metrics.js';
import type { Handler } from '../../../src/adapters/http/router.js';
import { ProxyHealth } from '../../../src/application/health/proxy-health.js';
import { Readiness } from '../../../src/application/health/readiness.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';

const clock = new FakeClock(1_700_000_000_500);
let server: ScrapeServer;

beforeEach(async () => {
  const metrics = new PrometheusMetrics({
    clock,
    mode: 'nftables',
    version: 'v1.36.0',
    programVersion: '1.2.3',
    features: [],
  });
  metrics.start();
  const health = new ProxyHealth(clock, 60_000, () => []);
  const none = (): readonly [] => [];
  const secret: Handler = (_, response) => void response.end('secret');
  server = new ScrapeServer({
    routes: { ...metricsRoutes(metrics, new HealthSlis()), '/debug/services': secret, '/configz': secret },
    health,
    readiness: new Readiness(health, new ServiceStatuses(), none, none, none, clock),
    metrics,
    logger: new MemoryLogger(),
    clock,
    address: { host: '127.0.0.1', port: 0 },
    hardFail: true,
  });
  await server.start();
});

afterEach(() => server.stop());

/** The path goes out as it stands; fetch would tidy it up. */
function status(path: string, method = 'GET'): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request({ host: '127.0.0.1', port: server.port, path, method }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    })
      .on('error', reject)
      .end();
  });
}

describe('ScrapeServer', () => {
  it.each(['/metrics', '/metrics/slis'])('shows %s', async (path) => {
    expect(await status(path)).toBe(200);
    expect(await status(path, 'HEAD')).toBe(200);
  });

  it.each(['/healthz', '/livez', '/readyz'])('answers %s as the health server does', async (path) => {
    expect(await status(path)).toBe(path === '/livez' ? 200 : 503);
  });

  it.each([
    '/',
    '/configz',
    '/debug/services',
    '/debug/pprof/',
    '/flagz',
    '/metrics/../configz',
    '/metrics/',
    '//configz',
  ])('does not know %s', async (path) => {
    expect(await status(path)).toBe(404);
  });

  it.each(['DELETE', 'POST', 'PUT'])('lets nobody change anything by %s', async (method) => {
    expect(await status('/metrics/slis', method)).toBe(405);
    expect(await status('/healthz', method)).toBe(405);
  });
});
