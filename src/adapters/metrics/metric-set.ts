/** Declarations of metrics, and their registration with prom-client. */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** A registered metric. */
export interface MetricSpec {
  /** The full name. */
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** Without the stability prefix. */
  readonly help: string;
  /** Kubernetes' stability level, shown in the help text. Missing for metrics that are not Kubernetes' own. */
  readonly stability?: 'ALPHA' | 'BETA' | 'STABLE';
  readonly labels?: readonly string[];
  /** Upper bounds, of histograms only. */
  readonly buckets?: readonly number[];
  /** The modes in which it is registered; all if missing. */
  readonly modes?: readonly string[];
  /** Registered only if the kernel has nfacct counters. */
  readonly needsCounters?: true;
  /** Registered only with this feature gate on. */
  readonly gate?: string;
}

export type MetricTable = Readonly<Record<string, MetricSpec>>;

/** The keys of a table's metrics of one type. */
type KeysOf<Table extends MetricTable, Type extends MetricSpec['type']> = {
  [Key in keyof Table]: Table[Key]['type'] extends Type ? Key : never;
}[keyof Table];

/**
 * Declares metrics that have these options in common; the type of each is kept for {@link KeysOf}.
 * @param prefix of their names
 */
export function metricsWith(common: MetricOptions, prefix = '') {
  const declare =
    <Type extends MetricSpec['type']>(type: Type) =>
    (name: string, help: string, options: MetricOptions = {}) => ({
      type,
      name: prefix + name,
      help,
      ...common,
      ...options,
    });
  return { counter: declare('counter'), gauge: declare('gauge'), histogram: declare('histogram') };
}

/** Optional properties of a metric. */
type MetricOptions = Omit<MetricSpec, 'type' | 'name' | 'help'>;

/** 1 ms to 16 s, doubling: bucket set D of docs/internals/spec/server.md §10. */
export const DURATION_BUCKETS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);

/** Bucket set N of docs/internals/spec/server.md §10, with its bucket for 0. */
export const PROGRAMMING_BUCKETS = [
  0,
  0.25,
  0.5,
  ...steps(1, 59, 1),
  ...steps(60, 115, 5),
  ...steps(120, 300, 30),
];

function steps(from: number, to: number, step: number): readonly number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step);
}

export type Labels = Readonly<Record<string, string>>;

export const NO_LABELS: Labels = {};

/** A reason or state as a label value: `endpoint_gone`. */
export function labelText(text: string): string {
  return text.replaceAll(/[ -]/g, '_');
}

/** The metrics of a table in a registry. Calls for metrics that are not registered in the current mode do nothing. */
export class MetricSet<Table extends MetricTable> {
  private readonly metrics = new Map<keyof Table, Counter | Gauge | Histogram>();

  constructor(table: Table, registry: Registry, isServed: (spec: MetricSpec) => boolean = () => true) {
    for (const [key, spec] of Object.entries(table))
      if (isServed(spec)) this.metrics.set(key, makeMetric(spec, registry));
  }

  count(key: KeysOf<Table, 'counter'>, labels = NO_LABELS, step = 1): void {
    (this.metrics.get(key) as Counter | undefined)?.inc(labels, step);
  }

  /** Sets a counter that is maintained elsewhere; undefined hides it. */
  countUpTo(key: KeysOf<Table, 'counter'>, total: number | undefined, labels = NO_LABELS): void {
    this.metrics.get(key)?.remove(labels);
    if (total !== undefined) this.count(key, labels, total);
  }

  /** Whether the metric is registered. */
  has(key: keyof Table): boolean {
    return this.metrics.has(key);
  }

  set(key: KeysOf<Table, 'gauge'>, labels: Labels, value: number): void {
    (this.metrics.get(key) as Gauge | undefined)?.set(labels, value);
  }

  /** Forgets all values of these. */
  clear(...keys: readonly KeysOf<Table, 'gauge' | 'counter'>[]): void {
    for (const key of keys) this.metrics.get(key)?.reset();
  }

  observe(key: KeysOf<Table, 'histogram'>, labels: Labels, value: number): void {
    (this.metrics.get(key) as Histogram | undefined)?.observe(labels, value);
  }
}

function makeMetric(spec: MetricSpec, registry: Registry): Counter | Gauge | Histogram {
  const { name, help, stability, labels = [] } = spec;
  const common = {
    name,
    help: stability ? `[${stability}] ${help}` : help,
    labelNames: labels,
    registers: [registry],
  };
  if (spec.type === 'counter') return new Counter(common);
  if (spec.type === 'gauge') return new Gauge(common);
  return new Histogram({ ...common, ...(spec.buckets && { buckets: [...spec.buckets] }) });
}

/** The Prometheus text, sorted by name. Vectors without an observation are omitted, as in Kubernetes' components. */
export async function expose(registry: Registry): Promise<string> {
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const texts = await Promise.all(names.sort().map((name) => registry.getSingleMetricAsString(name)));
  return texts.filter((text) => /^[^#\n]/m.test(text)).join('\n') + '\n';
}
