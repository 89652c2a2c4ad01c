import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { Clock } from '../../application/ports/clock.js';
import type { Metrics, SyncOutcome, TrafficPolicy } from '../../application/ports/metrics.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/** 1 ms to 16 s, doubling. */
const SYNC_BUCKETS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);
/** kube-proxy's own, with its bucket for 0. */
const PROGRAMMING_BUCKETS = [0, 0.25, 0.5, ...steps(1, 59, 1), ...steps(60, 115, 5), ...steps(120, 300, 30)];

const FAMILY = ['ip_family'] as const;

/** kube-proxy's metrics of the nftables mode under kube-proxy's names (spec/server.md 10), and those of the process. */
export class PrometheusMetrics implements Metrics {
  private readonly registry = new Registry();
  private readonly syncDuration = this.histogram(
    'sync_proxy_rules_duration_seconds',
    'Latency of one round of syncing rules, in seconds',
  );
  private readonly fullSyncDuration = this.histogram(
    'sync_full_proxy_rules_duration_seconds',
    'Latency of one full round of syncing rules, in seconds',
  );
  private readonly partialSyncDuration = this.histogram(
    'sync_partial_proxy_rules_duration_seconds',
    'Latency of one partial round of syncing rules, in seconds',
  );
  private readonly lastSync = this.gauge(
    'sync_proxy_rules_last_timestamp_seconds',
    'Time of the last successful sync, in seconds since the epoch',
    FAMILY,
  );
  private readonly lastQueued = this.gauge(
    'sync_proxy_rules_last_queued_timestamp_seconds',
    'Time at which a sync was last asked for, in seconds since the epoch',
    FAMILY,
  );
  private readonly programming = this.histogram(
    'network_programming_duration_seconds',
    'Time from the change of a pod to the rules that follow it, in seconds',
    PROGRAMMING_BUCKETS,
  );
  private readonly endpointsPending = this.gauge(
    'sync_proxy_rules_endpoint_changes_pending',
    'Endpoint changes that no sync has taken up yet',
  );
  private readonly endpointsTotal = this.counter(
    'sync_proxy_rules_endpoint_changes_total',
    'Endpoint changes seen',
  );
  private readonly servicesPending = this.gauge(
    'sync_proxy_rules_service_changes_pending',
    'Services with a change that no sync has taken up yet',
  );
  private readonly servicesTotal = this.counter(
    'sync_proxy_rules_service_changes_total',
    'Service changes seen',
  );
  private readonly noLocal = this.gauge(
    'sync_proxy_rules_no_local_endpoints_total',
    'Service ports with a Local traffic policy and no endpoint on this node',
    ['traffic_policy', 'ip_family'],
  );
  private readonly healthz = this.counter('proxy_healthz_total', 'Answers of /healthz', ['code']);
  private readonly livez = this.counter('proxy_livez_total', 'Answers of /livez', ['code']);
  private readonly syncFailures = this.counter(
    'sync_proxy_rules_nftables_sync_failures_total',
    'Syncs that nftables refused',
    FAMILY,
  );
  private readonly cleanupFailures = this.counter(
    'sync_proxy_rules_nftables_cleanup_failures_total',
    'Failures to delete stale nftables chains',
    FAMILY,
  );
  private readonly conntrackDuration = this.histogram(
    'conntrack_reconciler_sync_duration_seconds',
    'Latency of reconciling the connection tracking table, in seconds',
  );
  private readonly conntrackDeleted = this.counter(
    'conntrack_reconciler_deleted_entries_total',
    'Connection tracking entries deleted',
    FAMILY,
  );

  constructor(private readonly clock: Clock) {
    collectDefaultMetrics({ register: this.registry });
  }

  /** Of `exposition`. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** The Prometheus text. Vectors without any observation are left out, as Kubernetes' components do. */
  async exposition(): Promise<string> {
    const names = this.registry.getMetricsAsArray().map(({ name }) => name);
    const texts = await Promise.all(names.map((name) => this.registry.getSingleMetricAsString(name)));
    return texts.filter((text) => /^[^#\n]/m.test(text)).join('\n') + '\n';
  }

  syncQueued(family: IpFamily): void {
    this.lastQueued.set({ ip_family: family }, this.clock.now() / 1000);
  }

  syncFinished(family: IpFamily, { full, seconds, ok }: SyncOutcome): void {
    const labels = { ip_family: family };
    this.syncDuration.observe(labels, seconds);
    (full ? this.fullSyncDuration : this.partialSyncDuration).observe(labels, seconds);
    if (ok) this.lastSync.set(labels, this.clock.now() / 1000);
  }

  nftablesSyncFailed(family: IpFamily): void {
    this.syncFailures.inc({ ip_family: family });
  }

  nftablesCleanupFailed(family: IpFamily): void {
    this.cleanupFailures.inc({ ip_family: family });
  }

  networkProgramming(family: IpFamily, seconds: number): void {
    this.programming.observe({ ip_family: family }, seconds);
  }

  endpointChange(): void {
    this.endpointsTotal.inc();
  }

  endpointChangesPending(count: number): void {
    this.endpointsPending.set(count);
  }

  serviceChange(): void {
    this.servicesTotal.inc();
  }

  serviceChangesPending(count: number): void {
    this.servicesPending.set(count);
  }

  noLocalEndpoints(policy: TrafficPolicy, family: IpFamily, count: number): void {
    this.noLocal.set({ traffic_policy: policy, ip_family: family }, count);
  }

  conntrackReconciled(family: IpFamily, { seconds, deleted }: { seconds: number; deleted: number }): void {
    this.conntrackDuration.observe({ ip_family: family }, seconds);
    this.conntrackDeleted.inc({ ip_family: family }, deleted);
  }

  healthzAnswered(code: 200 | 503): void {
    this.healthz.inc({ code: String(code) });
  }

  livezAnswered(code: 200 | 503): void {
    this.livez.inc({ code: String(code) });
  }

  private histogram(name: string, help: string, buckets: number[] = SYNC_BUCKETS): Histogram<'ip_family'> {
    return new Histogram({ ...this.describe(name, help), labelNames: FAMILY, buckets });
  }

  private gauge<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Gauge<L> {
    return new Gauge({ ...this.describe(name, help), labelNames });
  }

  private counter<L extends string>(name: string, help: string, labelNames: readonly L[] = []): Counter<L> {
    return new Counter({ ...this.describe(name, help), labelNames });
  }

  private describe(name: string, help: string): { name: string; help: string; registers: Registry[] } {
    return { name: `kubeproxy_${name}`, help: `[ALPHA] ${help}`, registers: [this.registry] };
  }
}

function steps(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}
