import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { OWN_METRICS } from '../../../src/adapters/metrics/metric-tables.js';
import {
  PrometheusMetrics,
  type PrometheusMetricsOptions,
  type RejectedPackets,
} from '../../../src/adapters/metrics/prometheus-metrics.js';
import {
  showForwardingChecks,
  showLeastConnections,
  showNodeState,
  showServicePorts,
  showServices,
  showSources,
  showTraffic,
} from '../../../src/adapters/metrics/scrapes.js';
import type { BalancedEndpoint } from '../../../src/application/traffic/balance-by-connections.js';
import type { SyncReport } from '../../../src/application/ports/sync-observer.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import type { ForwardingState } from '../../../src/domain/forwarding/forwarding-check.js';
import type { Protocol } from '../../../src/domain/model/service-port-name.js';
import { IP_FAMILIES, type IpFamily } from '../../../src/domain/net/ip-family.js';
import { parseExposition, type ShownMetric } from '../../support/metrics/exposition.js';
import { specMetrics } from '../../support/metrics/spec-metrics.js';
import type { SeriesValues } from '../../../src/domain/traffic/traffic-series.js';
import { timeText } from '../../../src/domain/model/text.js';
import { SYNC_REPORT } from '../../support/sync-report.js';

const clock = new FakeClock(1_700_000_000_500);

function made(options: Partial<PrometheusMetricsOptions> = {}): PrometheusMetrics {
  const metrics = new PrometheusMetrics({
    clock,
    mode: 'nftables',
    version: 'v1.36.0',
    programVersion: '1.2.3',
    features: [],
    ...options,
  });
  metrics.start();
  return metrics;
}

const shown = async (metrics: PrometheusMetrics): Promise<ReadonlyMap<string, ShownMetric>> =>
  parseExposition(await metrics.exposition());

const packetCounters = { packets: () => Promise.resolve(7) };

const REPORT: SyncReport = {
  ...SYNC_REPORT,
  seconds: 0.003,
  written: 12,
  programmingLatencies: [0],
  noLocalEndpoints: { internal: 3, external: 4 },
};
const FAILURE: SyncReport = {
  ...REPORT,
  ok: false,
  full: false,
  seconds: 20,
  written: 0,
  programmingLatencies: [9],
  noLocalEndpoints: { internal: 8, external: 8 },
};

/** Everything that can happen, happens. */
function exercise(metrics: PrometheusMetrics): void {
  for (const family of IP_FAMILIES) {
    metrics.queued(family);
    metrics.finished(family, REPORT);
    metrics.finished(family, FAILURE);
    metrics.conntrackReconciled(family, 'UDP', { seconds: 0.5, deleted: 6, reasons: {} });
    metrics.conntrackReconciled(family, 'TCP', { seconds: 9, deleted: 2, reasons: { 'endpoint gone': 2 } });
    metrics.connectionsReset(family, 3);
    metrics.connectionsUnwatched(family, 7);
    metrics.localhostListeners(family, 2);
    metrics.localhostListenerFailed(family);
    metrics.repaired(family, 5);
    metrics.cleanupFailed(family);
    metrics.restored(family, { lockWaitSeconds: 0.1 });
    metrics.restored(family, { lockWaitSeconds: undefined });
    metrics.restoreFailed(family);
    metrics.rulesCounted(family, { table: 'nat', owned: 30, written: 9 });
  }
  for (const changed of [true, true, false, true]) metrics.endpointSliceEvent(changed);
  for (const service of ['a/b', 'a/b', 'a/c']) metrics.serviceEvent(service, true);
  metrics.serviceEvent('a/d', false);
  metrics.probed('healthz', 503);
  metrics.probed('livez', 200);
}

describe('the metrics of kube-proxy (docs/internals/spec/server.md §10)', () => {
  it.each([
    ['nftables', false],
    ['nftables', true],
    ['iptables', false],
    ['iptables', true],
    ['ipvs', true],
  ])('in mode %s, nfacct %p', async (mode, nfacct) => {
    const metrics = made({ mode, ...(nfacct && { packetCounters }) });
    exercise(metrics);
    const own = new Set(Object.values(OWN_METRICS).map(({ name }) => name as string));
    const present = [...(await shown(metrics))]
      .filter(([name]) => name.startsWith('kubeproxy_') && !own.has(name))
      .map(([name, { type, labels, buckets }]) => ({ name, type, labels, buckets }));
    const byName = (one: { name: string }, other: { name: string }) => (one.name < other.name ? -1 : 1);
    expect(present.sort(byName)).toEqual([...specMetrics(mode, nfacct)].sort(byName));
  });

  it('count every event, read or not', async () => {
    const metrics = made();
    let total = 0;
    for (const events of [1, 2_500, 3]) {
      for (let event = 0; event < events; event++) metrics.endpointSliceEvent(false);
      total += events;
      const { samples } = (await shown(metrics)).get('kubeproxy_sync_proxy_rules_endpoint_changes_total')!;
      expect([...samples.values()]).toEqual([total]);
    }
  });

  it('know which changes wait for a sync', async () => {
    const metrics = made();
    const waiting = async (): Promise<readonly unknown[]> => {
      const all = await shown(metrics);
      return ['endpoint', 'service'].flatMap((what) => [
        ...all.get(`kubeproxy_sync_proxy_rules_${what}_changes_pending`)!.samples.values(),
      ]);
    };
    metrics.endpointSliceEvent(true);
    metrics.serviceEvent('a/b', true);
    metrics.serviceEvent('a/c', true);
    expect(await waiting()).toEqual([1, 2]);
    metrics.dequeued('IPv4');
    expect(await waiting()).toEqual([0, 0]);
    metrics.serviceEvent('a/b', true);
    metrics.finished('IPv4', REPORT);
    expect(await waiting()).toEqual([0, 1]);
  });

  it('say what happened', async () => {
    const metrics = made();
    exercise(metrics);
    const values = new Map([...(await shown(metrics)).values()].flatMap(({ samples }) => [...samples]));
    expect(Object.fromEntries(values)).toMatchObject({
      'kubeproxy_sync_proxy_rules_duration_seconds_bucket{le="0.002",ip_family="IPv4"}': 0,
      'kubeproxy_sync_proxy_rules_duration_seconds_bucket{le="0.004",ip_family="IPv4"}': 1,
      'kubeproxy_sync_proxy_rules_duration_seconds_bucket{le="16.384",ip_family="IPv6"}': 1,
      'kubeproxy_sync_proxy_rules_duration_seconds_sum{ip_family="IPv6"}': 20.003,
      'kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="IPv4"}': 1,
      'kubeproxy_sync_partial_proxy_rules_duration_seconds_count{ip_family="IPv6"}': 1,
      'kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="IPv4"}': 1700000000.5,
      'kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds{ip_family="IPv4"}': 1700000000.5,
      'kubeproxy_sync_proxy_rules_nftables_sync_failures_total{ip_family="IPv6"}': 1,
      'kubeproxy_sync_proxy_rules_nftables_cleanup_failures_total{ip_family="IPv4"}': 1,
      'kubeproxy_network_programming_duration_seconds_bucket{le="0",ip_family="IPv4"}': 1,
      'kubeproxy_network_programming_duration_seconds_count{ip_family="IPv4"}': 1,
      kubeproxy_sync_proxy_rules_endpoint_changes_total: 4,
      kubeproxy_sync_proxy_rules_endpoint_changes_pending: 3,
      kubeproxy_sync_proxy_rules_service_changes_total: 4,
      kubeproxy_sync_proxy_rules_service_changes_pending: 2,
      'kubeproxy_sync_proxy_rules_no_local_endpoints_total{traffic_policy="internal",ip_family="IPv6"}': 3,
      'kubeproxy_sync_proxy_rules_no_local_endpoints_total{traffic_policy="external",ip_family="IPv4"}': 4,
      'kubeproxy_conntrack_reconciler_sync_duration_seconds_count{ip_family="IPv6"}': 1,
      'kubeproxy_conntrack_reconciler_deleted_entries_total{ip_family="IPv4"}': 6,
      'kube_proxy_ts_stale_connections_deleted_total{ip_family="IPv4",protocol="TCP",reason="endpoint_gone"}': 2,
      'kube_proxy_ts_connections_reset_total{ip_family="IPv6"}': 3,
      'kube_proxy_ts_connections_unmonitored_total{ip_family="IPv4"}': 7,
      'kubeproxy_proxy_healthz_total{code="503"}': 1,
      'kubeproxy_proxy_livez_total{code="200"}': 1,
      'kube_proxy_ts_drift_detections_total{ip_family="IPv4"}': 1,
      'kube_proxy_ts_drift_repair_steps_total{ip_family="IPv4"}': 5,
      'kube_proxy_ts_sync_steps_bucket{le="10",ip_family="IPv4"}': 0,
      'kube_proxy_ts_sync_steps_bucket{le="30",ip_family="IPv4"}': 1,
    });
  });

  it('in mode iptables report restores, rules and packets', async () => {
    const metrics = made({ mode: 'iptables', packetCounters });
    exercise(metrics);
    const all = await shown(metrics);
    const samplesOf = (name: string): object => Object.fromEntries(all.get(name)?.samples ?? []);
    expect(samplesOf('kubeproxy_sync_proxy_rules_iptables_restore_failures_total')).toEqual({
      'kubeproxy_sync_proxy_rules_iptables_restore_failures_total{ip_family="IPv4"}': 1,
      'kubeproxy_sync_proxy_rules_iptables_restore_failures_total{ip_family="IPv6"}': 1,
    });
    expect(samplesOf('kubeproxy_sync_proxy_rules_iptables_total')).toMatchObject({
      'kubeproxy_sync_proxy_rules_iptables_total{table="nat",ip_family="IPv4"}': 30,
    });
    expect(samplesOf('kubeproxy_sync_proxy_rules_iptables_last')).toMatchObject({
      'kubeproxy_sync_proxy_rules_iptables_last{table="nat",ip_family="IPv4"}': 9,
    });
    expect(samplesOf('kubeproxy_sync_proxy_rules_iptables_partial_restore_failures_total')).toMatchObject({
      'kubeproxy_sync_proxy_rules_iptables_partial_restore_failures_total{ip_family="IPv4"}': 1,
    });
    expect(samplesOf('kube_proxy_ts_iptables_lock_wait_seconds')).toMatchObject({
      'kube_proxy_ts_iptables_lock_wait_seconds_count{ip_family="IPv4"}': 1,
    });
  });

  it('count a partial sync with a rejected restore once, however it went on, and none for what happened between syncs', async () => {
    const metrics = made({ mode: 'iptables' });
    const name = 'kubeproxy_sync_proxy_rules_iptables_partial_restore_failures_total';
    const counted = async () => [...((await shown(metrics)).get(name)?.samples.values() ?? [])];
    const sync = (full: boolean, refusals: number): void => {
      metrics.dequeued('IPv4');
      for (let refusal = 0; refusal < refusals; refusal++) metrics.restoreFailed('IPv4');
      metrics.finished('IPv4', { ...REPORT, full });
    };
    sync(true, 1);
    sync(false, 0);
    // A verification had its repair rejected.
    metrics.restoreFailed('IPv4');
    sync(false, 0);
    expect(await counted()).toEqual([]);
    sync(false, 3);
    sync(false, 0);
    expect(await counted()).toEqual([1]);
  });

  it('are ALPHA, and leave out vectors without observations, but not plain numbers', async () => {
    const metrics = made();
    const all = await shown(metrics);
    expect(all.has('kubeproxy_sync_proxy_rules_duration_seconds')).toBe(false);
    expect(all.has('kubeproxy_proxy_healthz_total')).toBe(false);
    expect([...all.get('kubeproxy_sync_proxy_rules_service_changes_total')!.samples.values()]).toEqual([0]);
    exercise(metrics);
    for (const { name } of specMetrics('nftables', false))
      expect((await shown(metrics)).get(name)?.help).toMatch(/^\[ALPHA\] \S/);
  });

  it('leave a failed sync without the time of a success', async () => {
    const metrics = made();
    metrics.finished('IPv6', FAILURE);
    expect((await shown(metrics)).has('kubeproxy_sync_proxy_rules_last_timestamp_seconds')).toBe(false);
  });
});

describe('packets that the kernel counts', () => {
  it('are read each time, and omitted when unreadable', async () => {
    let count: number | undefined = 5;
    const counters = {
      packets: (name: string) =>
        name === 'localhost_nps_accepted_pkts'
          ? Promise.reject(new Error('netlink: EIO'))
          : Promise.resolve(count),
    };
    const metrics = made({ mode: 'iptables', packetCounters: counters });
    const dropped = async (): Promise<number | undefined> =>
      [
        ...((await shown(metrics))
          .get('kubeproxy_iptables_ct_state_invalid_dropped_packets_total')
          ?.samples.values() ?? []),
      ][0];
    expect(await dropped()).toBe(5);
    count = 9;
    expect(await dropped()).toBe(9);
    count = undefined;
    expect(await dropped()).toBeUndefined();
    expect((await shown(metrics)).has('kubeproxy_iptables_localhost_nodeports_accepted_packets_total')).toBe(
      false,
    );
  });
});

describe('packets to node ports on loopback addresses that rules reject', () => {
  const NAME = 'kubeproxy_nftables_localhost_nodeport_rejected_packets_total';
  const gate = (enabled: boolean) => [
    { name: 'KubeProxyNFTablesLocalhostNodePorts', stage: 'ALPHA', enabled },
  ];
  const linesOf = async (metrics: PrometheusMetrics): Promise<readonly string[]> =>
    (await metrics.exposition()).split('\n').filter((line) => line.includes(NAME));

  it('are told as long as the kernel counts them', async () => {
    const counted: Record<IpFamily, ReadonlyMap<Protocol, number>> = {
      IPv4: new Map<Protocol, number>([
        ['TCP', 5],
        ['UDP', 0],
      ]),
      IPv6: new Map(),
    };
    const metrics = made({
      features: gate(true),
      rejectedPackets: (family) => Promise.resolve(counted[family]),
    });
    expect(await linesOf(metrics)).toEqual([
      `# HELP ${NAME} [ALPHA] Number of packets rejected on localhost NodePorts. UDP and SCTP are always rejected; TCP is rejected when the localhost NodePort proxy is not running`,
      `# TYPE ${NAME} counter`,
      `${NAME}{ip_family="IPv4",protocol="TCP"} 5`,
      `${NAME}{ip_family="IPv4",protocol="UDP"} 0`,
    ]);
    counted.IPv4 = new Map([['UDP', 2]]);
    expect((await linesOf(metrics)).slice(2)).toEqual([`${NAME}{ip_family="IPv4",protocol="UDP"} 2`]);
    counted.IPv4 = new Map();
    expect(await linesOf(metrics)).toEqual([]);
  });

  it('are left out of a family that does not answer in two seconds, or cannot', async () => {
    let aborted = false;
    const rejectedPackets: RejectedPackets = (family, signal) => {
      if (family === 'IPv6') return Promise.reject(new Error('netlink: EIO'));
      signal.addEventListener('abort', () => (aborted = true));
      return new Promise(() => {});
    };
    const metrics = made({ features: gate(true), rejectedPackets });
    const lines = linesOf(metrics);
    await clock.advanceAsync(0);
    await clock.advanceAsync(1_999);
    expect(aborted).toBe(false);
    await clock.advanceAsync(1);
    expect(await lines).toEqual([]);
    expect(aborted).toBe(true);
  });

  it.each([
    ['with the gate off', { features: gate(false) }],
    ['in other modes', { features: gate(true), mode: 'iptables' }],
  ])('are not asked for %s', async (_, options) => {
    const rejectedPackets = () => Promise.reject(new Error('asked')).finally(() => (asked = true));
    let asked = false;
    expect(await linesOf(made({ ...options, rejectedPackets }))).toEqual([]);
    expect(asked).toBe(false);
  });
});

describe('the metrics of every Kubernetes component', () => {
  it('name the build and the feature gates', async () => {
    const metrics = made({
      features: [
        { name: 'ComponentFlagz', stage: 'BETA', enabled: true },
        { name: 'NFTablesProxyMode', stage: '', enabled: false },
      ],
    });
    const all = await shown(metrics);
    const build = all.get('kubernetes_build_info')!;
    expect([...build.samples.keys()][0]).toContain('major="1",minor="36",git_version="v1.36.0"');
    expect(build.labels).toEqual([
      'build_date',
      'compiler',
      'git_commit',
      'git_tree_state',
      'git_version',
      'go_version',
      'major',
      'minor',
      'platform',
    ]);
    expect(Object.fromEntries(all.get('kubernetes_feature_enabled')!.samples)).toEqual({
      'kubernetes_feature_enabled{name="ComponentFlagz",stage="BETA"}': 1,
      'kubernetes_feature_enabled{name="NFTablesProxyMode",stage=""}': 0,
    });
  });

  it('count the metrics themselves', async () => {
    const all = await shown(made());
    expect(
      all
        .get('registered_metrics_total')!
        .samples.get('registered_metrics_total{stability_level="BETA",deprecated_version=""}'),
    ).toBe(4);
    for (const name of ['hidden_metrics_total', 'disabled_metrics_total'])
      expect([...all.get(name)!.samples]).toEqual([[name, 0]]);
  });

  it('count requests to the API server', async () => {
    const metrics = made();
    metrics.answered({ code: '200', method: 'GET', host: '10.0.0.1:6443' }, 0.3);
    metrics.answered({ code: '<error>', method: 'GET', host: '10.0.0.1:6443' }, 10);
    metrics.waited({ method: 'POST', host: '10.0.0.1:6443' }, 0.2);
    const all = await shown(metrics);
    expect(all.get('rest_client_rate_limiter_duration_seconds')?.samples).toContainEqual([
      'rest_client_rate_limiter_duration_seconds_sum{verb="POST",host="10.0.0.1:6443"}',
      0.2,
    ]);
    expect(Object.fromEntries(all.get('rest_client_requests_total')!.samples)).toEqual({
      'rest_client_requests_total{code="200",method="GET",host="10.0.0.1:6443"}': 1,
      'rest_client_requests_total{code="<error>",method="GET",host="10.0.0.1:6443"}': 1,
    });
    const durations = all.get('rest_client_request_duration_seconds')!;
    expect(durations.labels).toEqual(['host', 'verb']);
    expect(durations.buckets).toEqual('0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60 +Inf'.split(' '));
  });

  it('report about the process what dashboards for Go programs use', async () => {
    const all = await shown(made());
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_virtual_memory_bytes',
      'process_virtual_memory_max_bytes',
      'process_open_fds',
      'process_max_fds',
      'process_start_time_seconds',
      'go_goroutines',
      'go_threads',
      'go_memstats_alloc_bytes',
      'go_memstats_heap_alloc_bytes',
      'go_memstats_heap_sys_bytes',
    ]) {
      const [value] = [...(all.get(name)?.samples.values() ?? [])];
      expect([name, value]).toEqual([name, expect.any(Number)]);
      expect(value).toBeGreaterThan(name === 'go_goroutines' ? -1 : 0);
    }
  });
});

describe('what is looked up for each scrape', () => {
  it('the traffic of Services, as long as they are there', async () => {
    const metrics = made();
    const labels = { namespace: 'shop', service: 'cart', port: 'http' };
    let series: readonly SeriesValues[] = [
      { labels, open: 1, overdue: 2, connections: 3, failed: 4, bytes: 5 },
    ];
    metrics.onScrape((own) => showTraffic(own, series));
    const own = async (): Promise<object> =>
      Object.fromEntries(
        [...(await shown(metrics)).values()].flatMap(({ samples }) =>
          [...samples].filter(([name]) => name.includes('service="cart"')),
        ),
      );
    const expected = {
      'kube_proxy_ts_service_connections_open{namespace="shop",service="cart",port="http"}': 1,
      'kube_proxy_ts_service_connections_unanswered{namespace="shop",service="cart",port="http"}': 2,
      'kube_proxy_ts_service_connections_total{namespace="shop",service="cart",port="http"}': 3,
      'kube_proxy_ts_service_connections_failed_total{namespace="shop",service="cart",port="http"}': 4,
      'kube_proxy_ts_service_bytes_total{namespace="shop",service="cart",port="http"}': 5,
    };
    expect([await own(), await own()]).toEqual([expected, expected]);
    series = [];
    expect(await own()).toEqual({});
  });

  it('open connections and parts of endpoints where those count', async () => {
    const metrics = made();
    const name = { namespace: 'shop', name: 'cart', port: 'http', protocol: 'TCP' } as const;
    let endpoints: readonly BalancedEndpoint[] = [{ name, endpoint: '10.1.1.1:80', open: 7, share: 0.25 }];
    metrics.onScrape((own) => showLeastConnections(own, endpoints));
    const own = async (): Promise<object> => {
      const all = await shown(metrics);
      return Object.fromEntries(
        ['open', 'share_ratio'].flatMap((one) => [
          ...(all.get(`kube_proxy_ts_least_connections_${one}`)?.samples ?? []),
        ]),
      );
    };
    const labels = '{namespace="shop",service="cart",port="http",endpoint="10.1.1.1:80"}';
    expect(await own()).toEqual({
      [`kube_proxy_ts_least_connections_open${labels}`]: 7,
      [`kube_proxy_ts_least_connections_share_ratio${labels}`]: 0.25,
    });
    endpoints = [];
    expect(await own()).toEqual({});
  });

  it('checks of forwarding by family, with the failures of each scrape once', async () => {
    const metrics = made();
    const states = new Map<IpFamily, ForwardingState>([
      ['IPv4', { failuresInARow: 0, totalFailures: 2 }],
      ['IPv6', { failuresInARow: 1, totalFailures: 5, problem: 'no answer' }],
    ]);
    metrics.onScrape((own) => showForwardingChecks(own, states));
    await shown(metrics);
    const all = await shown(metrics);
    const values = (name: string) => [...all.get(`kube_proxy_ts_forwarding_check_${name}`)!.samples.values()];
    expect([values('successful'), values('failures_total')]).toEqual([
      [1, 0],
      [2, 5],
    ]);
  });

  it('Services by their verdict', async () => {
    const metrics = made();
    metrics.onScrape((own) => showServices(own, { ok: 7, warning: 2, error: 1 }));
    expect(Object.fromEntries((await shown(metrics)).get('kube_proxy_ts_services')!.samples)).toEqual({
      'kube_proxy_ts_services{state="ok"}': 7,
      'kube_proxy_ts_services{state="warning"}': 2,
      'kube_proxy_ts_services{state="error"}': 1,
    });
  });

  it('the state of the node, and what identifies the build', async () => {
    const metrics = made();
    metrics.onScrape((own) => showNodeState(own, 'not-serving'));
    const all = await shown(metrics);
    expect(Object.fromEntries(all.get('kube_proxy_ts_node_state')!.samples)).toEqual({
      'kube_proxy_ts_node_state{state="ok"}': 0,
      'kube_proxy_ts_node_state{state="degraded"}': 0,
      'kube_proxy_ts_node_state{state="not_serving"}': 1,
    });
    const labels = `version="1.2.3",kubernetes_version="v1.36.0",node_version="${process.version}",mode="nftables"`;
    expect([...all.get('kube_proxy_ts_build_info')!.samples]).toEqual([
      [`kube_proxy_ts_build_info{${labels}}`, 1],
    ]);
  });

  it('service ports by state, and how fresh each kind is', async () => {
    const statuses = new ServiceStatuses();
    for (const key of ['a/b/tcp/', 'a/b/udp/', 'a/e/tcp/'] as const)
      statuses.set('IPv4', key, { state: 'programmed', sinceTime: timeText(1) });
    const failed = { state: 'failed', sinceTime: timeText(1), reason: 'no', attempts: 1 } as const;
    for (const key of ['a/c/tcp/', 'a/f/tcp/'] as const) statuses.set('IPv4', key, failed);
    statuses.set('IPv4', 'a/d/sctp/', { ...failed, limitedBy: 'mode' });
    const metrics = made();
    let connected = true;
    const status = { kind: 'Service', synced: true, objects: 1, lastActivity: clock.now() - 2_500 } as const;
    metrics.onScrape((own) => {
      showServicePorts(own, { family: 'IPv4', pending: { serviceCount: 2 } }, statuses);
      showSources(
        own,
        connected
          ? [
              { ...status, state: 'watching', connected, rewinds: 3, shortWatches: 4 },
              { ...status, kind: 'ServiceCIDR', state: 'absent', connected: false },
            ]
          : [],
        clock.now(),
      );
    });
    const own = async (): Promise<object> =>
      Object.fromEntries(
        [...(await shown(metrics)).values()].flatMap(({ samples }) =>
          [...samples].filter(([name]) => /service_ports|pending_services|watch/.test(name)),
        ),
      );
    expect(await own()).toEqual({
      'kube_proxy_ts_service_ports{ip_family="IPv4",state="programmed"}': 3,
      'kube_proxy_ts_service_ports{ip_family="IPv4",state="degraded"}': 1,
      'kube_proxy_ts_service_ports{ip_family="IPv4",state="failed"}': 2,
      'kube_proxy_ts_pending_services{ip_family="IPv4"}': 2,
      'kube_proxy_ts_watch_connected{kind="Service"}': 1,
      'kube_proxy_ts_watch_rewinds_total{kind="Service"}': 3,
      'kube_proxy_ts_watch_idle_seconds{kind="Service"}': 2.5,
      'kube_proxy_ts_short_watches_total{kind="Service"}': 4,
    });
    connected = false;
    expect(Object.keys(await own()).filter((name) => name.includes('watch'))).toEqual([]);
  });

  it('has those of node ports on localhost only where the gate is on, with the texts of the specification', async () => {
    const name = 'KubeProxyNFTablesLocalhostNodePorts';
    const ofLocalhost = async (options: Partial<PrometheusMetricsOptions>): Promise<readonly string[]> => {
      const metrics = made(options);
      exercise(metrics);
      const texts = (await metrics.exposition()).split('\n');
      return texts.filter((line) => line.includes('localhost_nodeport_listener'));
    };
    const features = (enabled: boolean) => [{ name, stage: 'ALPHA', enabled }];
    expect(await ofLocalhost({ features: features(false) })).toEqual([]);
    expect(await ofLocalhost({ features: features(true), mode: 'iptables' })).toEqual([]);
    const [failures, listeners] = [
      'kubeproxy_nftables_localhost_nodeport_listener_creation_failures_total',
      'kubeproxy_nftables_localhost_nodeport_listeners',
    ];
    expect(await ofLocalhost({ features: features(true) })).toEqual([
      `# HELP ${failures} [ALPHA] Number of localhost NodePort userspace proxy listener creation failures.`,
      `# TYPE ${failures} counter`,
      `${failures}{ip_family="IPv4"} 1`,
      `${failures}{ip_family="IPv6"} 1`,
      `# HELP ${listeners} [ALPHA] Number of active localhost NodePort userspace proxy listeners.`,
      `# TYPE ${listeners} gauge`,
      `${listeners}{ip_family="IPv4"} 2`,
      `${listeners}{ip_family="IPv6"} 2`,
    ]);
  });
});
