import { Registry } from 'prom-client';
import { expose } from './exposition.js';
import { MetricSet } from './metric-set.js';
import { SLI_METRICS } from './sli-metric-table.js';

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
    this.metrics.clear('healthcheck');
    this.metrics.clear('healthchecks');
  }
}
