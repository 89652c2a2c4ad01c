/** One metric of a Prometheus text. */
export interface ShownMetric {
  readonly help: string;
  readonly type: string;
  /** By name and labels as they are written: `name{a="b"}`. */
  readonly samples: ReadonlyMap<string, number>;
  /** Names of labels, `le` left out, sorted. */
  readonly labels: readonly string[];
  /** The values of `le`, in order; empty but for histograms. */
  readonly buckets: readonly string[];
}

/** Reads the Prometheus text format, as far as this project writes it. */
export function parseExposition(text: string): ReadonlyMap<string, ShownMetric> {
  const metrics = new Map<string, ShownMetric>();
  for (const block of text.split(/^(?=# HELP )/m)) {
    const [, name = '', help = ''] = /^# HELP (\S+) (.*)$/m.exec(block) ?? [];
    const [, type = ''] = /^# TYPE \S+ (\S+)$/m.exec(block) ?? [];
    const samples = new Map<string, number>();
    const labels = new Set<string>();
    const buckets = new Set<string>();
    for (const line of block.split('\n').filter((one) => one !== '' && !one.startsWith('#'))) {
      const [, sample = '', value = ''] = /^(\S+?(?:\{.*\})?) (\S+)$/.exec(line) ?? [];
      samples.set(sample, Number(value.replace('Inf', 'Infinity')));
      for (const [, label = '', content = ''] of sample.matchAll(/([a-z_]+)="((?:[^"\\]|\\.)*)"/g)) {
        if (label === 'le') buckets.add(content);
        else labels.add(label);
      }
    }
    metrics.set(name, { help, type, samples, labels: [...labels].sort(), buckets: [...buckets] });
  }
  return metrics;
}
