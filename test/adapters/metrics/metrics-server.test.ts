import { gunzipSync } from 'node:zlib';
import { request } from 'node:http';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { HealthSlis } from '../../../src/adapters/metrics/component-metrics.js';
import { metricsRoutes, MetricsServer } from '../../../src/adapters/metrics/metrics-server.js';
import { PrometheusMetrics } from '../../../src/adapters/metrics/prometheus-metrics.js';
import { parseExposition } from '../../support/metrics/exposition.js';

const clock = new FakeClock(1_700_000_000_500);
let metrics: PrometheusMetrics;
let slis: HealthSlis;
let server: MetricsServer;
let logger: MemoryLogger;

async function serve(profiling: boolean, names?: readonly string[]): Promise<void> {
  const address = { host: '127.0.0.1', port: 0 };
  const routes = metricsRoutes(metrics, slis);
  server = new MetricsServer({
    routes,
    profiling,
    ...(names && { names }),
    logger,
    clock,
    address,
    hardFail: true,
  });
  await server.start();
}

beforeEach(() => {
  metrics = new PrometheusMetrics({
    clock,
    mode: 'nftables',
    version: 'v1.36.0',
    programVersion: '1.2.3',
    features: [],
  });
  metrics.start();
  slis = new HealthSlis();
  logger = new MemoryLogger();
});

afterEach(() => server.stop());

const get = (path: string, method = 'GET'): Promise<Response> =>
  fetch(`http://127.0.0.1:${server.port}${path}`, { method });

/** The status for a request that calls the server by this name; fetch does not let its callers choose it. */
function statusFor(path: string, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    request(`http://127.0.0.1:${server.port}${path}`, { headers: { host } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

/** The bytes as they come, and their encoding; fetch would decode them. */
function raw(encoding: string): Promise<readonly [encoding: string | undefined, body: Buffer]> {
  return new Promise((resolve, reject) => {
    const headers = { 'accept-encoding': encoding };
    request(`http://127.0.0.1:${server.port}/metrics`, { headers }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve([response.headers['content-encoding'], Buffer.concat(chunks)]));
    })
      .on('error', reject)
      .end();
  });
}

describe('MetricsServer', () => {
  it('answers its paths and no others', async () => {
    await serve(false);
    const response = await get('/metrics');
    expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(parseExposition(await response.text()).has('kubernetes_build_info')).toBe(true);
    for (const path of ['/', '/metrics/', '/debug/pprof/', '/debug/pprof'])
      expect((await get(path)).status).toBe(404);
  });

  it.each(['/metrics', '/metrics/slis', '/debug/pprof/'])(
    'answers %s by its own names alone, where it has some',
    async (path) => {
      await serve(true, ['node1']);
      const hosts = [
        '127.0.0.1:10249',
        '[::1]',
        'localhost',
        'Node1:80',
        'evil.example',
        'node1.evil.example',
      ];
      const statuses = await Promise.all(hosts.map((host) => statusFor(path, host)));
      expect(statuses).toEqual([200, 200, 200, 200, 421, 421]);
      await server.stop();
      await serve(true);
      expect(await statusFor(path, 'metrics.example')).toBe(200);
    },
  );

  it('compresses metrics for those who take them so', async () => {
    await serve(false);
    const [encoding, body] = await raw('deflate, gzip;q=1.0');
    expect(encoding).toBe('gzip');
    expect(gunzipSync(body).toString()).toContain('# TYPE kubernetes_build_info gauge');
    const [plain, text] = await raw('identity');
    expect([plain, text.toString().startsWith('# HELP')]).toEqual([undefined, true]);
  });

  it('says so when metrics cannot be collected', async () => {
    await serve(false);
    metrics.exposition = () => Promise.reject(new Error('broken'));
    expect((await get('/metrics')).status).toBe(500);
    expect(logger.at('warn')).toHaveLength(1);
  });

  it('counts health checks, until reset', async () => {
    await serve(false);
    expect([...parseExposition(await (await get('/metrics/slis')).text()).keys()]).toEqual([
      'process_start_time_seconds',
    ]);
    slis.checked('healthz', 'ping', true);
    slis.checked('healthz', 'ping', true);
    const shown = parseExposition(await (await get('/metrics/slis')).text());
    expect(shown.get('kubernetes_healthcheck')).toMatchObject({
      type: 'gauge',
      samples: new Map([['kubernetes_healthcheck{name="ping",type="healthz"}', 1]]),
    });
    expect(shown.get('kubernetes_healthchecks_total')).toMatchObject({
      type: 'counter',
      samples: new Map([['kubernetes_healthchecks_total{name="ping",type="healthz",status="success"}', 2]]),
    });
    expect(await (await get('/metrics/slis', 'DELETE')).text()).toBe('metrics reset\n');
    expect(parseExposition(await (await get('/metrics/slis')).text()).has('kubernetes_healthcheck')).toBe(
      false,
    );
  });

  it('takes profiles when it may', async () => {
    await serve(true);
    expect((await get('/debug/pprof/')).status).toBe(200);
    expect((await get('/metrics')).status).toBe(200);
  });
});
