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

/** What a metric may have besides its type, name and help. */
type MetricOptions = Omit<MetricSpec, 'type' | 'name' | 'help'>;

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

export type MetricTable = Readonly<Record<string, MetricSpec>>;

/** The keys of a table's metrics of one type. */
export type KeysOf<Table extends MetricTable, Type extends MetricSpec['type']> = {
  [Key in keyof Table]: Table[Key]['type'] extends Type ? Key : never;
}[keyof Table];

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
