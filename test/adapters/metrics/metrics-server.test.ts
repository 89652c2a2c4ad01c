import { FakeClock } from '../../../src/adapters/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/adapters/fakes/memory-logger.js';
import { MetricsServer } from '../../../src/adapters/metrics/metrics-server.js';
import { PrometheusMetrics } from '../../../src/adapters/metrics/prometheus-metrics.js';

const clock = new FakeClock(1_700_000_000_500);
let metrics: PrometheusMetrics;
let server: MetricsServer;
let logger: MemoryLogger;

beforeEach(async () => {
  metrics = new PrometheusMetrics({ clock, mode: 'nftables', version: 'v1.36.0', features: [] });
  logger = new MemoryLogger();
  const address = { host: '127.0.0.1', port: 0 };
  server = new MetricsServer({
    metrics,
    syncState: () => ({ idle: true, appliedEvents: 3 }),
    proxyMode: 'nftables',
    logger,
    clock,
    address,
    hardFail: true,
  });
  await server.start();
});

afterEach(() => server.stop());

const get = (path: string): Promise<Response> => fetch(`http://127.0.0.1:${server.port}${path}`);

describe('MetricsServer', () => {
  it('answers its paths and no others', async () => {
    const mode = await get('/proxyMode');
    expect([mode.status, await mode.text()]).toEqual([200, 'nftables']);
    expect(mode.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(mode.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await (await get('/healthz')).text()).toBe('ok');
    expect((await get('/')).status).toBe(404);
    expect((await get('/metrics/')).status).toBe(404);
    expect((await get('/metrics')).headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
  });

  it('says so when metrics cannot be collected', async () => {
    metrics.exposition = () => Promise.reject(new Error('broken'));
    expect((await get('/metrics')).status).toBe(500);
    expect(logger.at('error')).toHaveLength(1);
  });
});
