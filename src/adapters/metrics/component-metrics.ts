/** Metrics of every Kubernetes component, of its runtime, and of its health checks (`/metrics/slis`). */

import { readdirSync, readFileSync } from 'node:fs';
import { Registry } from 'prom-client';
import { metricsWith, MetricSet, expose, type MetricTable } from './metric-set.js';

const alpha = metricsWith({ stability: 'ALPHA' });
const beta = metricsWith({ stability: 'BETA' });
const requestTime = metricsWith({
  stability: 'ALPHA',
  labels: ['verb', 'host'],
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
});

/** The metrics that every Kubernetes component has (docs/internals/spec/server.md §10, last paragraph). */
export const COMPONENT_METRICS = {
  buildInfo: alpha.gauge('kubernetes_build_info', 'Always 1; the labels identify the build', {
    labels: [
      'major',
      'minor',
      'git_version',
      'git_commit',
      'git_tree_state',
      'build_date',
      'go_version',
      'compiler',
      'platform',
    ],
  }),
  featureEnabled: beta.gauge('kubernetes_feature_enabled', 'Whether a feature gate is enabled', {
    labels: ['name', 'stage'],
  }),
  registered: beta.counter('registered_metrics_total', 'Metrics registered, by stability', {
    labels: ['stability_level', 'deprecated_version'],
  }),
  hidden: beta.counter('hidden_metrics_total', 'Metrics hidden because they are deprecated'),
  disabled: beta.counter('disabled_metrics_total', 'Metrics disabled'),
  restRequests: alpha.counter(
    'rest_client_requests_total',
    'Requests to the API server, by status, method and host',
    { labels: ['code', 'method', 'host'] },
  ),
  restDuration: requestTime.histogram(
    'rest_client_request_duration_seconds',
    'Time from a request to the API server to the beginning of its response',
  ),
  restWaiting: requestTime.histogram(
    'rest_client_rate_limiter_duration_seconds',
    'Time that clientConnection.qps delayed requests to the API server',
  ),
} satisfies MetricTable;

/** A feature gate; the stage is `ALPHA`, `BETA`, `DEPRECATED`, or empty. */
export interface FeatureState {
  readonly name: string;
  readonly stage: string;
  readonly enabled: boolean;
}

/** Sets what never changes: the build, the feature gates, and the metrics in the registry. */
export function describeComponent(
  component: MetricSet<typeof COMPONENT_METRICS>,
  { version, features }: { readonly version: string; readonly features: readonly FeatureState[] },
  registry: Registry,
): void {
  const [major = '', minor = ''] = version.slice(1).split('.');
  component.set(
    'buildInfo',
    {
      major,
      minor,
      git_version: version,
      git_commit: '',
      git_tree_state: '',
      build_date: '',
      go_version: '',
      compiler: `node ${process.version}`,
      platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
    },
    1,
  );
  for (const { name, stage, enabled } of features)
    component.set('featureEnabled', { name, stage }, enabled ? 1 : 0);
  // The library's type lacks the help text, which each metric has.
  for (const { help } of registry.getMetricsAsArray() as unknown as readonly { readonly help: string }[]) {
    const [, stability = ''] = /^\[([A-Z]+)\] /.exec(help) ?? [];
    component.count('registered', { stability_level: stability, deprecated_version: '' });
  }
}

const { gauge } = metricsWith({});

/** Metrics of Go programs that dashboards use and that have a true equivalent here; the library adds the others. */
export const RUNTIME_METRICS = {
  goroutines: gauge(
    'go_goroutines',
    'Active resources: sockets, timers, requests and processes that the event loop waits for',
  ),
  threads: gauge('go_threads', 'Threads of the process'),
  allocated: gauge('go_memstats_alloc_bytes', 'Heap bytes in use'),
  heapAllocated: gauge('go_memstats_heap_alloc_bytes', 'Heap bytes in use'),
  heapSystem: gauge('go_memstats_heap_sys_bytes', 'Heap bytes obtained from the system'),
  virtualMaximum: gauge(
    'process_virtual_memory_max_bytes',
    'Maximum virtual memory of the process, in bytes',
  ),
} satisfies MetricTable;

/** `ulimit -v unlimited` in bytes. */
const UNLIMITED = 2 ** 64;

/** Sets the metrics of the runtime. */
export function readRuntime(runtime: MetricSet<typeof RUNTIME_METRICS>): void {
  const { heapUsed, heapTotal } = process.memoryUsage();
  runtime.set('goroutines', {}, process.getActiveResourcesInfo().length);
  runtime.set('allocated', {}, heapUsed);
  runtime.set('heapAllocated', {}, heapUsed);
  runtime.set('heapSystem', {}, heapTotal);
  runtime.set('threads', {}, readdirSync('/proc/self/task').length);
  const [, limit] = /^Max address space +(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
  runtime.set('virtualMaximum', {}, limit === 'unlimited' ? UNLIMITED : Number(limit));
}

const stable = metricsWith({ stability: 'STABLE' });

/** The metrics of `/metrics/slis` (docs/internals/spec/server.md §9). */
export const SLI_METRICS = {
  healthcheck: stable.gauge('kubernetes_healthcheck', 'Whether a health check passed last time', {
    labels: ['name', 'type'],
  }),
  healthchecks: stable.counter('kubernetes_healthchecks_total', 'Health checks by result', {
    labels: ['name', 'type', 'status'],
  }),
  startTime: metricsWith({}).gauge(
    'process_start_time_seconds',
    'When the process started, in seconds since the epoch',
  ),
} satisfies MetricTable;

/** Service level indicators: the health checks and their results. */
export class HealthSlis {
  private readonly registry = new Registry();
  private readonly metrics = new MetricSet(SLI_METRICS, this.registry);

  constructor() {
    this.metrics.set('startTime', {}, Date.now() / 1000 - process.uptime());
  }

  get contentType(): string {
    return this.registry.contentType;
  }

  /** @param type the endpoint: `healthz` */
  checked(type: string, name: string, ok: boolean): void {
    this.metrics.set('healthcheck', { name, type }, ok ? 1 : 0);
    this.metrics.count('healthchecks', { name, type, status: ok ? 'success' : 'error' });
  }

  exposition(): Promise<string> {
    return expose(this.registry);
  }

  /** Forgets all checks. */
  reset(): void {
    this.metrics.clear('healthcheck', 'healthchecks');
  }
}
