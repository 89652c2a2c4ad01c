import type { Registry } from 'prom-client';
import type { COMPONENT_METRICS } from './component-metric-table.js';
import type { MetricSet } from './metric-set.js';

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
