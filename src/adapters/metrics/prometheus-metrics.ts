import { collectDefaultMetrics, Registry } from 'prom-client';
import { inTime } from '../../application/retries.js';
import type { Clock } from '../../application/ports/clock.js';
import type { ConntrackOutcome, Metrics } from '../../application/ports/metrics.js';
import type { SyncReport } from '../../application/ports/sync-observer.js';
import { PROTOCOLS, type Protocol, type ServiceKey } from '../../domain/model/service-port-name.js';
import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import {
  COMPONENT_METRICS,
  describeComponent,
  type FeatureState,
  readRuntime,
  RUNTIME_METRICS,
} from './component-metrics.js';
import { expose, type Labels, labelText, MetricSet, NO_LABELS, type MetricSpec } from './metric-set.js';
import { OWN_METRICS, PROXY_METRICS } from './metric-tables.js';
/** Gauges that the library names like counters. */
const MISNAMED = [
  'nodejs_active_handles_total',
  'nodejs_active_requests_total',
  'nodejs_active_resources_total',
];
/** The library's default wakes the process a hundred times per second. Milliseconds. */
const EVENT_LOOP_PRECISION = 1_000;
/** How long a scrape waits for the rejected packets of a family, as in kube-proxy. Milliseconds. */
const REJECTED_PACKETS_LIMIT = 2_000;

export interface PrometheusMetricsOptions {
  readonly clock: Clock;
  /** The mode in effect; metrics that do not apply to it are not registered. */
  readonly mode: string;
  /** The Kubernetes release whose interfaces are offered: `v1.37.0`. */
  readonly version: string;
  /** The version of kube-proxy-ts: `0.1.0`. */
  readonly programVersion: string;
  readonly features: readonly FeatureState[];
  /** Undefined if the kernel has no such counters. */
  readonly packetCounters?: PacketCounters | undefined;
  /** Undefined in modes that reject none. */
  readonly rejectedPackets?: RejectedPackets | undefined;
}

/** Counters of the kernel, by their nfacct names. */
export interface PacketCounters {
  /** Undefined when there is no such counter. */
  packets(name: string): Promise<number | undefined>;
}

/** Packets to node ports on loopback addresses that rules have rejected, by protocol, if the kernel counts them. */
export type RejectedPackets = (
  family: IpFamily,
  signal: AbortSignal,
) => Promise<ReadonlyMap<Protocol, number>>;

/** Sets gauges on demand. Cheap, whatever the size of the cluster. Never rejects. */
export type Scrape = (own: MetricSet<typeof OWN_METRICS>) => void | Promise<void>;

/** All metrics of the tables, and their text for Prometheus. */
export class PrometheusMetrics implements Metrics {
  private readonly registry = new Registry();
  private readonly proxy: MetricSet<typeof PROXY_METRICS>;
  private readonly own: MetricSet<typeof OWN_METRICS>;
  private readonly component = new MetricSet(COMPONENT_METRICS, this.registry);
  private readonly runtime = new MetricSet(RUNTIME_METRICS, this.registry);
  private readonly scrapes: Scrape[] = [];
  private readonly clock: Clock;
  /** Families of which a restore failed since their last sync began. */
  private readonly refused = new Set<IpFamily>();
  /** Accepted changes that no sync has processed yet. */
  private slicesPending = 0;
  private readonly servicesPending = new Set<ServiceKey>();

  constructor(private readonly options: PrometheusMetricsOptions) {
    const { clock, mode, packetCounters, features } = options;
    this.clock = clock;
    const gates = new Set(features.filter(({ enabled }) => enabled).map(({ name }) => name));
    const isServed = ({ modes, needsCounters, gate }: MetricSpec): boolean =>
      (modes?.includes(mode) ?? true) &&
      (!needsCounters || packetCounters !== undefined) &&
      (gate === undefined || gates.has(gate));
    this.proxy = new MetricSet(PROXY_METRICS, this.registry, isServed);
    this.own = new MetricSet(OWN_METRICS, this.registry, isServed);
  }

  /** Starts to measure this process, and sets the metrics that never change. To be called once. */
  start(): void {
    collectDefaultMetrics({
      register: this.registry,
      eventLoopMonitoringPrecision: EVENT_LOOP_PRECISION,
    });
    for (const name of MISNAMED) this.registry.removeSingleMetric(name);
    const { mode, programVersion, version } = this.options;
    const versions = { version: programVersion, kubernetes_version: version, node_version: process.version };
    this.own.set('buildInfo', { ...versions, mode }, 1);
    describeComponent(this.component, this.options, this.registry);
  }

  /** The content type of `exposition`. */
  get contentType(): string {
    return this.registry.contentType;
  }

  /** Adds a function that sets gauges before each exposition. */
  onScrape(scrape: Scrape): void {
    this.scrapes.push(scrape);
  }

  /** The Prometheus text. */
  async exposition(): Promise<string> {
    await Promise.all(this.scrapes.map(async (scrape) => scrape(this.own)));
    readRuntime(this.runtime);
    await this.readPacketCounters();
    await Promise.all(IP_FAMILIES.map((family) => this.readRejectedPackets(family)));
    return expose(this.registry);
  }

  loopStarted(family: IpFamily): void {
    this.queued(family);
  }

  queued(family: IpFamily): void {
    this.proxy.set('lastQueued', labelOf(family), this.clock.now() / 1000);
  }

  dequeued(family: IpFamily): void {
    this.refused.delete(family);
    this.slicesPending = 0;
    this.servicesPending.clear();
    this.proxy.set('endpointsPending', NO_LABELS, 0);
    this.proxy.set('servicesPending', NO_LABELS, 0);
  }

  finished(family: IpFamily, report: SyncReport): void {
    const { full, seconds, ok, written, programmingLatencies, noLocalEndpoints } = report;
    const labels = labelOf(family);
    this.proxy.observe('sync', labels, seconds);
    this.proxy.observe(full ? 'fullSync' : 'partialSync', labels, seconds);
    // As in kube-proxy, where a rejected restore fails the sync; here it may have been recovered.
    if (!full && (!ok || this.refused.has(family))) this.proxy.count('partialRestoreFailures', labels);
    if (!ok) return this.proxy.count('nftablesSyncFailures', labels);
    this.proxy.set('lastSync', labels, this.clock.now() / 1000);
    this.own.observe('syncSteps', labels, written);
    for (const latency of programmingLatencies) this.proxy.observe('programming', labels, latency);
    for (const policy of POLICIES)
      this.proxy.set('noLocalEndpoints', POLICY_LABELS[policy][family], noLocalEndpoints[policy]);
  }

  verified(): void {}

  repaired(family: IpFamily, steps: number): void {
    this.own.count('driftDetections', labelOf(family));
    this.own.count('driftRepairSteps', labelOf(family), steps);
  }

  serviceEvent(service: ServiceKey, changed: boolean): void {
    this.proxy.count('services');
    if (!changed) return;
    this.servicesPending.add(service);
    this.proxy.set('servicesPending', NO_LABELS, this.servicesPending.size);
  }

  endpointSliceEvent(changed: boolean): void {
    this.proxy.count('endpoints');
    if (changed) this.proxy.set('endpointsPending', NO_LABELS, ++this.slicesPending);
  }

  /** kube-proxy examines UDP alone, and its metrics mean that. */
  conntrackReconciled(family: IpFamily, protocol: Protocol, outcome: ConntrackOutcome): void {
    const { seconds, deleted, reasons } = outcome;
    if (protocol === 'UDP') {
      this.proxy.observe('conntrack', labelOf(family), seconds);
      this.proxy.count('conntrackDeleted', labelOf(family), deleted);
    } else
      for (const [reason, count] of Object.entries(reasons))
        this.own.count(
          'staleConnections',
          { ...labelOf(family), protocol, reason: labelText(reason) },
          count,
        );
  }

  connectionsReset(family: IpFamily, count: number): void {
    this.own.count('connectionsReset', labelOf(family), count);
  }

  connectionsUnwatched(family: IpFamily, count: number): void {
    this.own.count('connectionsUnmonitored', labelOf(family), count);
  }

  localhostListeners(family: IpFamily, count: number): void {
    this.proxy.set('localhostListeners', labelOf(family), count);
  }

  localhostListenerFailed(family: IpFamily): void {
    this.proxy.count('localhostListenerFailures', labelOf(family));
  }

  probed(path: 'healthz' | 'livez', code: 200 | 503): void {
    this.proxy.count(path, { code: String(code) });
  }

  /** nftables failed to delete unused chains. */
  cleanupFailed(family: IpFamily): void {
    this.proxy.count('nftablesCleanupFailures', labelOf(family));
  }

  /** iptables applied a restore; `lockWaitSeconds` is undefined if it was not measured. */
  restored(family: IpFamily, { lockWaitSeconds }: { readonly lockWaitSeconds: number | undefined }): void {
    if (lockWaitSeconds !== undefined) this.own.observe('lockWait', labelOf(family), lockWaitSeconds);
  }

  /** The number of the proxy's rules in a table of iptables, and of those that the last sync wrote. */
  rulesCounted(
    family: IpFamily,
    { table, owned, written }: { readonly table: string; readonly owned: number; readonly written: number },
  ): void {
    this.proxy.set('rulesOwned', { table, ...labelOf(family) }, owned);
    this.proxy.set('rulesWritten', { table, ...labelOf(family) }, written);
  }

  /** iptables rejected a restore, or it could not run. */
  restoreFailed(family: IpFamily): void {
    this.refused.add(family);
    this.proxy.count('restoreFailures', labelOf(family));
  }

  /** The API server responded; without a response the code is `<error>`. */
  answered(
    request: { readonly code: string; readonly method: string; readonly host: string },
    seconds: number,
  ): void {
    const { code, method, host } = request;
    this.component.count('restRequests', { code, method, host });
    this.component.observe('restDuration', { verb: method, host }, seconds);
  }

  /** The rate limit delayed a request to the API server. */
  waited({ method, host }: { readonly method: string; readonly host: string }, seconds: number): void {
    this.component.observe('restWaiting', { verb: method, host }, seconds);
  }

  private async readPacketCounters(): Promise<void> {
    const { packetCounters } = this.options;
    if (!packetCounters) return;
    const read = (name: string) => packetCounters.packets(name).catch(() => undefined);
    this.proxy.countUpTo('invalidDropped', await read('ct_state_invalid_dropped_pkts'));
    this.proxy.countUpTo('localhostNodePorts', await read('localhost_nps_accepted_pkts'));
  }

  /** Counters that cannot be read in time are omitted. */
  private async readRejectedPackets(family: IpFamily): Promise<void> {
    const { rejectedPackets, clock } = this.options;
    if (!rejectedPackets || !this.proxy.has('localhostNodePortsRejected')) return;
    const counted = await inTime(clock, REJECTED_PACKETS_LIMIT, (signal) => rejectedPackets(family, signal));
    for (const protocol of PROTOCOLS)
      this.proxy.countUpTo('localhostNodePortsRejected', counted?.get(protocol), {
        ...labelOf(family),
        protocol,
      });
  }
}

const LABELS = { IPv4: { ip_family: 'IPv4' }, IPv6: { ip_family: 'IPv6' } } as const;

function labelOf(family: IpFamily): { readonly ip_family: IpFamily } {
  return LABELS[family];
}

const POLICIES = ['internal', 'external'] as const;
const POLICY_LABELS = { internal: policyLabels('internal'), external: policyLabels('external') };

function policyLabels(policy: string): Readonly<Record<IpFamily, Labels>> {
  return {
    IPv4: { traffic_policy: policy, ...LABELS.IPv4 },
    IPv6: { traffic_policy: policy, ...LABELS.IPv6 },
  };
}
