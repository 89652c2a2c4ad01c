import type { Registry } from 'prom-client';

/** The Prometheus text, sorted by name. Vectors without an observation are omitted, as in Kubernetes' components. */
export async function expose(registry: Registry): Promise<string> {
  const names = registry.getMetricsAsArray().map(({ name }) => name);
  const texts = await Promise.all(names.sort().map((name) => registry.getSingleMetricAsString(name)));
  return texts.filter((text) => /^[^#\n]/m.test(text)).join('\n') + '\n';
}
