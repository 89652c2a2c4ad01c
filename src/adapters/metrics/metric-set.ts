/** Metrics as they are declared, and registered with prom-client. */

import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { append } from '../../domain/model/maps.js';

/** One metric as it is registered. */
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

/** What a metric may have besides its type, name and help. */
type MetricOptions = Omit<MetricSpec, 'type' | 'name' | 'help'>;

/** 1 ms to 16 s, doubling: bucket set D of docs/spec/server.md §10. */
export const DURATION_BUCKETS = Array.from({ length: 15 }, (_, power) => 0.001 * 2 ** power);

/** Bucket set N of docs/spec/server.md §10, with its bucket for 0. */
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

/** Updates that wait for each other. */
const AT_ONCE = 1_000;

/** What waits, by metric and by labels. The same object means the same labels; others may. */
type Waiting<Key, Value> = Map<Key, Map<Labels, Value>>;

/**
 * The metrics of a table in a registry. Calls for metrics that are not registered in the current mode do nothing. Updates
 * are applied when somebody reads the registry, or many at once: each change of a Service updates a dozen metrics. Until then
 * counts are summed up, and of a gauge only the last value is kept.
 */
export class MetricSet<Table extends MetricTable> {
  private readonly metrics = new Map<keyof Table, Counter | Gauge | Histogram>();
  private readonly sums: Waiting<keyof Table, number> = new Map();
  private readonly latest: Waiting<keyof Table, number> = new Map();
  private readonly observed: Waiting<keyof Table, number[]> = new Map();
  private waiting = 0;

  constructor(table: Table, registry: Registry, isServed: (spec: MetricSpec) => boolean = () => true) {
    for (const [key, spec] of Object.entries(table)) {
      if (isServed(spec))
        this.metrics.set(
          key,
          makeMetric(spec, registry, () => this.update()),
        );
    }
  }

  count(key: KeysOf<Table, 'counter'>, labels = NO_LABELS, step = 1): void {
    const sums = byLabels(this.sums, key);
    sums.set(labels, (sums.get(labels) ?? 0) + step);
    this.noted();
  }

  /** Sets a counter that is maintained elsewhere; undefined hides it. */
  countUpTo(key: KeysOf<Table, 'counter'>, total: number | undefined, labels = NO_LABELS): void {
    const counter = this.metrics.get(key) as Counter | undefined;
    counter?.remove(labels);
    if (total !== undefined) counter?.inc(labels, total);
  }

  /** Whether the metric is registered. */
  has(key: keyof Table): boolean {
    return this.metrics.has(key);
  }

  set(key: KeysOf<Table, 'gauge'>, labels: Labels, value: number): void {
    byLabels(this.latest, key).set(labels, value);
    this.noted();
  }

  /** Forgets all values of these. */
  clear(...keys: readonly KeysOf<Table, 'gauge' | 'counter'>[]): void {
    for (const key of keys) {
      this.sums.delete(key);
      this.latest.delete(key);
      this.metrics.get(key)?.reset();
    }
  }

  observe(key: KeysOf<Table, 'histogram'>, labels: Labels, value: number): void {
    append(byLabels(this.observed, key), labels, value);
    this.noted();
  }

  private noted(): void {
    if (++this.waiting >= AT_ONCE) this.update();
  }

  private update(): void {
    if (this.waiting === 0) return;
    this.waiting = 0;
    for (const [key, labels, sum] of taken(this.sums))
      (this.metrics.get(key) as Counter | undefined)?.inc(labels, sum);
    for (const [key, labels, value] of taken(this.latest))
      (this.metrics.get(key) as Gauge | undefined)?.set(labels, value);
    for (const [key, labels, values] of taken(this.observed))
      for (const value of values) (this.metrics.get(key) as Histogram | undefined)?.observe(labels, value);
  }
}

function byLabels<Key, Value>(waiting: Waiting<Key, Value>, key: Key): Map<Labels, Value> {
  const present = waiting.get(key);
  if (present) return present;
  const values = new Map<Labels, Value>();
  waiting.set(key, values);
  return values;
}

/** Takes out everything that waits. */
function* taken<Key, Value>(waiting: Waiting<Key, Value>): Generator<readonly [Key, Labels, Value]> {
  for (const [key, values] of waiting) for (const [labels, value] of values) yield [key, labels, value];
  waiting.clear();
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
