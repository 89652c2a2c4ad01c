import { FakeClock } from '../../../src/adapters/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/adapters/fakes/memory-logger.js';
import { MetricsServer } from '../../../src/adapters/metrics/metrics-server.js';
import { PrometheusMetrics } from '../../../src/adapters/metrics/prometheus-metrics.js';

const clock = new FakeClock(1_700_000_000_500);
let metrics: PrometheusMetrics;
let server: MetricsServer;
let logger: MemoryLogger;

beforeEach(async () => {
  metrics = new PrometheusMetrics(clock);
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

describe('PrometheusMetrics', () => {
  const lines = async (): Promise<string[]> => (await metrics.exposition()).split('\n');

  it('leaves out vectors without observations, but not plain numbers', async () => {
    const text = await metrics.exposition();
    expect(text).not.toContain('kubeproxy_sync_proxy_rules_duration_seconds');
    expect(text).not.toContain('kubeproxy_proxy_healthz_total');
    expect(text).toContain('kubeproxy_sync_proxy_rules_service_changes_total 0\n');
    expect(text).toContain('process_start_time_seconds');
  });

  it('counts under the names of kube-proxy', async () => {
    metrics.syncQueued('IPv4');
    metrics.syncFinished('IPv4', { full: true, seconds: 0.003, ok: true });
    metrics.syncFinished('IPv6', { full: false, seconds: 20, ok: false });
    metrics.nftablesSyncFailed('IPv6');
    metrics.nftablesCleanupFailed('IPv4');
    metrics.networkProgramming('IPv4', 0);
    metrics.endpointChange();
    metrics.endpointChangesPending(3);
    metrics.serviceChange();
    metrics.serviceChangesPending(2);
    metrics.noLocalEndpoints('external', 'IPv4', 4);
    metrics.conntrackReconciled('IPv4', { seconds: 0.5, deleted: 6 });
    metrics.healthzAnswered(503);
    metrics.livezAnswered(200);
    expect(await lines()).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^# HELP kubeproxy_sync_proxy_rules_duration_seconds \[ALPHA\] /),
        'kubeproxy_sync_proxy_rules_duration_seconds_bucket{le="0.002",ip_family="IPv4"} 0',
        'kubeproxy_sync_proxy_rules_duration_seconds_bucket{le="0.004",ip_family="IPv4"} 1',
        'kubeproxy_sync_proxy_rules_duration_seconds_bucket{le="16.384",ip_family="IPv6"} 0',
        'kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="IPv4"} 1',
        'kubeproxy_sync_partial_proxy_rules_duration_seconds_count{ip_family="IPv6"} 1',
        'kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="IPv4"} 1700000000.5',
        'kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds{ip_family="IPv4"} 1700000000.5',
        'kubeproxy_sync_proxy_rules_nftables_sync_failures_total{ip_family="IPv6"} 1',
        'kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total{ip_family="IPv4"} 1',
        'kubeproxy_network_programming_duration_seconds_bucket{le="0",ip_family="IPv4"} 1',
        'kubeproxy_sync_proxy_rules_endpoint_changes_total 1',
        'kubeproxy_sync_proxy_rules_endpoint_changes_pending 3',
        'kubeproxy_sync_proxy_rules_service_changes_total 1',
        'kubeproxy_sync_proxy_rules_service_changes_pending 2',
        'kubeproxy_sync_proxy_rules_no_local_endpoints_total{traffic_policy="external",ip_family="IPv4"} 4',
        'kubeproxy_conntrack_reconciler_deleted_entries_total{ip_family="IPv4"} 6',
        'kubeproxy_proxy_healthz_total{code="503"} 1',
        'kubeproxy_proxy_livez_total{code="200"} 1',
      ]),
    );
    expect(await metrics.exposition()).not.toContain('last_timestamp_seconds{ip_family="IPv6"}');
  });

  it('has the buckets of network programming', async () => {
    metrics.networkProgramming('IPv4', 1);
    const buckets = (await lines()).flatMap(
      (line) => /programming_duration_seconds_bucket\{le="([^"]+)"/.exec(line)?.[1] ?? [],
    );
    expect(buckets).toHaveLength(3 + 59 + 12 + 7 + 1);
    expect(buckets.slice(0, 4)).toEqual(['0', '0.25', '0.5', '1']);
    expect(buckets.slice(-9)).toEqual(['115', '120', '150', '180', '210', '240', '270', '300', '+Inf']);
  });
});
