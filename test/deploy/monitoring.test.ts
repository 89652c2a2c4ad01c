import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { OWN_METRICS, PROXY_METRICS } from '../../src/adapters/metrics/metric-tables.js';
import type { MetricSpec } from '../../src/adapters/metrics/metric-set.js';

const TABLES: readonly MetricSpec[] = [...Object.values(PROXY_METRICS), ...Object.values(OWN_METRICS)];

/** The labels of each series: of the proxy, histograms with their parts, and of Prometheus itself. */
const SERIES = new Map<string, readonly string[]>([
  ['up', []],
  ['ALERTS', ['alertname', 'alertstate']],
  ['process_resident_memory_bytes', []],
  ...TABLES.flatMap(({ type, name, labels = [] }): [string, readonly string[]][] =>
    type === 'histogram'
      ? [
          [`${name}_bucket`, ['le', ...labels]],
          ...['_count', '_sum'].map((part): [string, readonly string[]] => [name + part, labels]),
        ]
      : [[name, labels]],
  ),
]);
/** The labels that Prometheus adds to all series of a target. */
const TARGET = ['job', 'instance'];
const OPERATORS = ['and', 'or', 'unless', 'bool'];

interface Used {
  readonly name: string;
  /** The labels in its braces. */
  readonly labels: readonly string[];
}

/** The series that a PromQL expression selects: all names that are neither functions nor operators nor labels of a clause. */
function seriesIn(expression: string): readonly Used[] {
  const bare = expression
    .replaceAll(/"[^"]*"|'[^']*'/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)/g, '');
  return [...bare.matchAll(/(?<![\w{,])([a-zA-Z_]\w*)\b(?:\{([^}]*)\})?(?!\s*\()/g)]
    .map(([, name = '', matchers = '']) => ({
      name,
      labels: [...matchers.matchAll(/(\w+)\s*(?:=|!)/g)].map(([, label = '']) => label),
    }))
    .filter(({ name }) => !OPERATORS.includes(name));
}

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: Readonly<Record<string, string>>;
}

interface Dashboard {
  readonly templating: { readonly list: readonly { readonly query: string }[] };
  readonly panels: readonly {
    readonly title: string;
    readonly description: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

const { groups } = parse(readFileSync('deploy/chart/monitoring/alerts.yaml', 'utf8')) as {
  groups: readonly { readonly rules: readonly Rule[] }[];
};
const alerts = groups.flatMap(({ rules }) => rules);
const dashboard = JSON.parse(readFileSync('deploy/chart/monitoring/dashboard.json', 'utf8')) as Dashboard;

const expressions: readonly (readonly [string, string])[] = [
  ...alerts.map(({ alert, expr }) => [alert, expr] as const),
  ...dashboard.panels.flatMap(({ title, targets }) => targets.map(({ expr }) => [title, expr] as const)),
  ...dashboard.templating.list.flatMap(({ query }) => {
    const [, expr] = /^label_values\((.*), \w+\)$/.exec(query) ?? [];
    return expr === undefined ? [] : [['label_values', expr] as const];
  }),
];

it('finds the series of an expression', () => {
  const expression =
    'sum by (a, le) (rate(x_bucket{job=~"y{",b!="1"}[5m])) > 3 and on (c) z unless up == 1e3';
  expect(seriesIn(expression)).toEqual([
    { name: 'x_bucket', labels: ['job', 'b'] },
    { name: 'z', labels: [] },
    { name: 'up', labels: [] },
  ]);
});

it.each(expressions)('%s uses series and labels that exist: %s', (_, expression) => {
  const used = seriesIn(expression);
  expect(used).not.toEqual([]);
  for (const { name, labels } of used) {
    expect([...SERIES.keys()]).toContain(name);
    expect([...SERIES.get(name)!, ...TARGET]).toEqual(expect.arrayContaining([...labels]));
  }
});

describe.each(alerts)('the alert $alert', ({ alert, labels, annotations }) => {
  it('has a name of its own, a severity and texts', () => {
    expect(alert).toMatch(/^KubeProxyTs[A-Z]/);
    expect(['critical', 'warning', 'info']).toContain(labels.severity);
    expect(Object.keys(annotations).sort()).toEqual(['description', 'runbook_url', 'summary']);
    expect(annotations.summary).not.toMatch(/\.$/);
    expect(annotations.description).toMatch(/\.$/);
  });

  it('has a section of its name in docs/troubleshooting.md, with what to check and how to fix it', () => {
    const { homepage } = JSON.parse(readFileSync('package.json', 'utf8')) as { homepage: string };
    const page = `${homepage.replace('#readme', '')}/blob/main/docs/troubleshooting.md`;
    expect(annotations.runbook_url).toBe(`${page}#${alert.toLowerCase()}`);
    const [, section = ''] =
      new RegExp(`^### ${alert}\n(.*?)(?=^##)`, 'ms').exec(
        `${readFileSync('docs/troubleshooting.md', 'utf8')}\n##`,
      ) ?? [];
    expect(section).toMatch(/^Symptom: [^]*^Check: [^]*^Fix: /m);
  });
});

it('docs/troubleshooting.md has no section of an alert that is gone', () => {
  const sections = readFileSync('docs/troubleshooting.md', 'utf8').matchAll(/^### (KubeProxy\w*)$/gm);
  expect([...sections].map(([, name]) => name)).toEqual(alerts.map(({ alert }) => alert));
});
