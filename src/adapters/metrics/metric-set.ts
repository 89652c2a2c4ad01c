import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import type { KeysOf, MetricSpec, MetricTable } from './metric-spec.js';

export type Labels = Readonly<Record<string, string>>;

/** Updates that wait for each other. */
const AT_ONCE = 1_000;

/**
 * The metrics of a table in a registry. Calls for metrics that are not registered in the current mode do nothing. Updates
 * are applied when somebody reads the registry, or many at once: each change of a Service updates a dozen metrics, and one
 * after the other they cost a fraction of what they would cost between all else that the change makes the process do.
 */
export class MetricSet<Table extends MetricTable> {
  private readonly metrics = new Map<keyof Table, Counter | Gauge | Histogram>();
  private waiting: (() => void)[] = [];

  constructor(table: Table, registry: Registry, isServed: (spec: MetricSpec) => boolean = () => true) {
    for (const [key, spec] of Object.entries(table)) {
      if (isServed(spec))
        this.metrics.set(
          key,
          makeMetric(spec, registry, () => this.update()),
        );
    }
  }

  count(key: KeysOf<Table, 'counter'>, labels: Labels = {}, step = 1): void {
    this.note(() => (this.metrics.get(key) as Counter | undefined)?.inc(labels, step));
  }

  /** Sets a counter that is maintained elsewhere; undefined hides it. */
  countUpTo(key: KeysOf<Table, 'counter'>, total: number | undefined): void {
    this.note(() => {
      const counter = this.metrics.get(key) as Counter | undefined;
      counter?.remove();
      if (total !== undefined) counter?.inc(total);
    });
  }

  set(key: KeysOf<Table, 'gauge'>, labels: Labels, value: number): void {
    this.note(() => (this.metrics.get(key) as Gauge | undefined)?.set(labels, value));
  }

  /** Forgets all values. */
  clear(key: KeysOf<Table, 'gauge' | 'counter'>): void {
    this.note(() => this.metrics.get(key)?.reset());
  }

  observe(key: KeysOf<Table, 'histogram'>, labels: Labels, value: number): void {
    this.note(() => (this.metrics.get(key) as Histogram | undefined)?.observe(labels, value));
  }

  private note(update: () => void): void {
    this.waiting.push(update);
    if (this.waiting.length >= AT_ONCE) this.update();
  }

  private update(): void {
    const updates = this.waiting;
    this.waiting = [];
    for (const update of updates) update();
  }
}

/** @param collect called before the metric is read */
function makeMetric(spec: MetricSpec, registry: Registry, collect: () => void): Counter | Gauge | Histogram {
  const { name, help, stability, labels = [] } = spec;
  const common = {
    name,
    help: stability ? `[${stability}] ${help}` : help,
    labelNames: labels,
    registers: [registry],
    collect,
  };
  switch (spec.type) {
    case 'counter':
      return new Counter(common);
    case 'gauge':
      return new Gauge(common);
    case 'histogram':
      return new Histogram({ ...common, ...(spec.buckets && { buckets: [...spec.buckets] }) });
  }
}

/** The Prometheus text, sorted by name. Vectors without an observation are omitted, as in Kubernetes' components. */
export async function expose(registry: Registry): Promise<string> {
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const texts = await Promise.all(names.sort().map((name) => registry.getSingleMetricAsString(name)));
  return texts.filter((text) => /^[^#\n]/m.test(text)).join('\n') + '\n';
}
