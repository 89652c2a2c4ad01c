import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { OWN_METRICS, PROXY_METRICS } from '../../src/adapters/metrics/metric-tables.js';
/** What the proxy exports, histograms with their parts, and what every Prometheus has. */
const exported = new Set([
  'up',
  'process_resident_memory_bytes',
  ...[...Object.values(PROXY_METRICS), ...Object.values(OWN_METRICS)].flatMap(({ type, name }) =>
    type === 'histogram' ? [`${name}_bucket`, `${name}_count`, `${name}_sum`] : [name],
  ),
]);

const metricsIn = (expression: string): string[] =>
  expression.match(/\b(?:(?:kubeproxy|kube_proxy_ts)_\w+|process_\w+|up)\b(?=[{[ )]|$)/g) ?? [];

interface Rule {
  readonly alert: string;
  readonly expr: string;
}

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

it.each([
  [
    'the alerts',
    async () => {
      const { groups } = parse(await readFile('deploy/chart/monitoring/alerts.yaml', 'utf8')) as {
        groups: { rules: Rule[] }[];
      };
      return groups.flatMap(({ rules }) => rules.map(({ expr }) => expr));
    },
  ],
  [
    'the dashboard',
    async () => {
      const { panels } = JSON.parse(
        await readFile('deploy/chart/monitoring/dashboard.json', 'utf8'),
      ) as Dashboard;
      return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
    },
  ],
])('%s use metrics that the proxy exports', async (_, read) => {
  const expressions = await read();
  const used = expressions.map(metricsIn);
  expect(used.filter((names) => names.length === 0)).toEqual([]);
  expect(used.flat().filter((name) => !exported.has(name))).toEqual([]);
});
