import { Registry } from 'prom-client';
import { expose, MetricSet } from './metric-set.js';
import { metricsWith, type MetricTable } from './metric-spec.js';

const stable = metricsWith({ stability: 'STABLE' });

/** The metrics of `/metrics/slis` (docs/spec/server.md §9). */
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
