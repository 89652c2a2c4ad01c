import { execa } from 'execa';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { stringify } from 'yaml';
import { Command } from '../support/program/command.js';
import { Namespace } from '../support/program/in-namespace.js';
import { serviceObjects, testNode, testServiceCidr } from '../support/testbed/cluster-objects.js';
import { Host } from '../support/testbed/host.js';
import { parseExposition } from '../support/metrics/exposition.js';

/** Samples by name and labels, as a scrape of the real program has them. */
type Scrape = ReadonlyMap<string, number>;

const BROKEN = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'broken', namespace: 'shop' },
  spec: { clusterIP: 'nonsense', ports: [{ port: 80 }] },
};
const WEB = serviceObjects({
  name: 'web',
  clusterIP: '172.30.0.80',
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
  endpoints: ['10.244.1.80'],
});

/** The alerts of the chart, tried by promtool over what the real program shows in each situation. */
describe('the alerts', () => {
  let namespace: Namespace;
  let node: Host;
  let folder: string;
  /** The metrics of a proxy that serves, as text. */
  let exposition: string;
  /** A proxy that serves, then one that ignores an object and has rejected an edit, and one that found no API server. */
  let scrapes: { readonly healthy: Scrape; readonly complaining: Scrape; readonly lost: Scrape };

  const place = async (name: string, text: string): Promise<void> => {
    await writeFile(join(folder, 'next'), text);
    await rename(join(folder, 'next'), join(folder, name));
  };
  const scrape = async (): Promise<Scrape> => {
    const { body } = await node.get('http://127.0.0.1:10246/metrics');
    const samples = [...parseExposition(body).values()].flatMap((metric) => [...metric.samples]);
    return new Map(samples.filter(([, value]) => !Number.isNaN(value)));
  };
  const scrapedUntil = async (proxy: Command, sample: string, value: number): Promise<Scrape> => {
    let scraped: Scrape = new Map();
    await proxy.until(`${sample} is ${value}`, async () => {
      scraped = await scrape();
      return scraped.get(sample) === value;
    });
    return scraped;
  };

  beforeAll(async () => {
    namespace = await Namespace.open('alerts');
    node = new Host(namespace.name);
    folder = await mkdtemp(join(tmpdir(), 'kubeproxy-alerts-'));
    const objects = [testNode, testServiceCidr, ...WEB].map((object) => stringify(object)).join('---\n');
    await place('config', configuration({}));
    await place('objects.yaml', objects);
    const flags = ['--config', join(folder, 'config'), '--scrape-bind-address', '127.0.0.1'];

    const lost = await Command.start(node, [
      ...flags,
      '--hostname-override',
      'node1',
      '--master',
      'http://127.0.0.1:9',
    ]);
    const unsynced = await scrapedUntil(lost, 'kube_proxy_ts_synced{ip_family="IPv4"}', 0);
    await lost.stop('SIGKILL');

    const manifests = ['--hostname-override', 'node1', '--manifests', join(folder, 'objects.yaml')];
    const proxy = await Command.start(node, [...flags, ...manifests]);
    try {
      const healthy = await scrapedUntil(proxy, 'kube_proxy_ts_synced{ip_family="IPv4"}', 1);
      exposition = (await node.get('http://127.0.0.1:10246/metrics')).body;
      await place('objects.yaml', `${objects}---\n${stringify(BROKEN)}`);
      await place('config', configuration({ mode: 'nonsense' }));
      await scrapedUntil(proxy, 'kube_proxy_ts_configuration_rejected', 1);
      const complaining = await scrapedUntil(proxy, 'kube_proxy_ts_ignored_objects{kind="Service"}', 1);
      scrapes = { healthy, complaining, lost: unsynced };
    } finally {
      await proxy.stop('SIGKILL');
    }
  });

  afterAll(async () => {
    await node.killAgent();
    await namespace.close();
    await rm(folder, { recursive: true, force: true });
  });

  /** The names of the alerts that fire when Prometheus has seen these series, once a minute, for half an hour. */
  async function firing(
    ...series: readonly (readonly [name: string, values: string])[]
  ): Promise<readonly string[]> {
    const test = {
      rule_files: [resolve('deploy/chart/monitoring/alerts.yaml')],
      evaluation_interval: '1m',
      tests: [
        {
          interval: '1m',
          input_series: series.map(([name, values]) => ({ series: name, values })),
          // That nothing fires at all is expected, and what does fire is read from the answer.
          promql_expr_test: [{ expr: 'ALERTS{alertstate="firing"}', eval_time: '30m', exp_samples: [] }],
        },
      ],
    };
    await writeFile(join(folder, 'rules-test.yaml'), stringify(test));
    const { all, exitCode } = await execa('promtool', ['test', 'rules', join(folder, 'rules-test.yaml')], {
      reject: false,
      all: true,
    });
    const names = [...new Set([...all.matchAll(/alertname="(\w+)"/g)].map(([, name = '']) => name))];
    if ((exitCode === 0) !== (names.length === 0)) throw new Error(all);
    return names.sort();
  }

  /** What Prometheus makes of a scrape that stays the same, with some samples replaced by how they continue, and others left out. */
  function seen(
    scraped: Scrape,
    changed: Readonly<Record<string, string>> = {},
    without = '-',
  ): (readonly [string, string])[] {
    for (const name of Object.keys(changed)) if (!scraped.has(name)) throw new Error(`there is no ${name}`);
    const target = 'job="kube-proxy-ts",instance="node-1"';
    const labelled = (sample: string): string =>
      sample.includes('{') ? sample.replace('{', `{${target},`) : `${sample}{${target}}`;
    return [
      [`up{${target}}`, '1x40'],
      ...[...scraped]
        .filter(([sample]) => !sample.includes(without))
        .map(([sample, value]) => [labelled(sample), changed[sample] ?? `${value}x40`] as const),
    ];
  }

  it('use metrics that follow the conventions of Prometheus', async () => {
    const own = exposition.split('\n').filter((line) => /^(# \w+ )?kube_proxy_ts_/.test(line));
    expect(own.length).toBeGreaterThan(40);
    const { all } = await execa('promtool', ['check', 'metrics'], {
      input: `${own.join('\n')}\n`,
      reject: false,
      all: true,
    });
    expect(all).toBe('');
  });

  it('are silent about a proxy that serves', async () => {
    expect(await firing(...seen(scrapes.healthy))).toEqual([]);
  });

  it('see a node that never synced, from its first moment', async () => {
    expect(await firing(...seen(scrapes.lost))).toEqual(['KubeProxyTsNeverSynced']);
  });

  it('see ignored objects, their Services, and a rejected configuration', async () => {
    expect(await firing(...seen(scrapes.complaining))).toEqual([
      'KubeProxyTsConfigurationRejected',
      'KubeProxyTsObjectsIgnored',
      'KubeProxyTsServicesWithErrors',
    ]);
  });

  it('see one proxy of many that is down, and all of them', async () => {
    const other = ['up{job="kube-proxy-ts",instance="node-2"}', '1x10 0x30'] as const;
    expect(await firing(...seen(scrapes.healthy), other)).toEqual(['KubeProxyTsInstanceDown']);
    expect(await firing(other)).toEqual(['KubeProxyTsDown', 'KubeProxyTsInstanceDown']);
    expect(await firing(['up{job="other",instance="node-1"}', '1x40'])).toEqual(['KubeProxyTsDown']);
  });

  it.each([
    [
      'KubeProxyTsServicePortsFailed',
      'kube_proxy_ts_service_ports{ip_family="IPv4",state="failed"}',
      '0x5 2x35',
    ],
    [
      'KubeProxyTsRulesNotProgrammed',
      'kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds{ip_family="IPv4"}',
      '99999999999x40',
    ],
    ['KubeProxyTsServicesWithErrors', 'kube_proxy_ts_services{state="error"}', '1x40'],
    ['KubeProxyTsRulesDrift', 'kube_proxy_ts_drift_detections_total{ip_family="IPv4"}', '0+1x40'],
  ])('see what %s is about', async (alert, sample, values) => {
    expect(await firing(...seen(scrapes.healthy, { [sample]: values }))).toEqual([alert]);
  });

  it('see a degraded node, unless a more precise alert fires', async () => {
    const [ok, degraded] = ['ok', 'degraded'].map((state) => `kube_proxy_ts_node_state{state="${state}"}`);
    const change = { [ok!]: '0x40', [degraded!]: '1x40' };
    expect(await firing(...seen(scrapes.healthy, change))).toEqual(['KubeProxyTsNodeDegraded']);
    const failed = { 'kube_proxy_ts_service_ports{ip_family="IPv4",state="failed"}': '1x40' };
    expect(await firing(...seen(scrapes.healthy, { ...change, ...failed }))).toEqual([
      'KubeProxyTsServicePortsFailed',
    ]);
  });

  it('see Services with warnings, later than those with errors', async () => {
    const warnings = (values: string) =>
      seen(scrapes.healthy, { 'kube_proxy_ts_services{state="warning"}': values });
    expect(await firing(...warnings('1x40'))).toEqual(['KubeProxyTsServicesWithWarnings']);
    expect(await firing(...warnings('0x5 1x35'))).toEqual([]);
  });

  it('are silent about kube-proxy', async () => {
    const target = 'job="kube-proxy",instance="node-2"';
    const queued = `kubeproxy_sync_proxy_rules_last_queued_timestamp_seconds{${target}}`;
    const last = `kubeproxy_sync_proxy_rules_last_timestamp_seconds{${target}}`;
    const kubeProxy = [
      [`up{${target}}`, '0x40'],
      [queued, '1000x40'],
      [last, '10x40'],
    ] as const;
    expect(await firing(...seen(scrapes.healthy), ...kubeProxy)).toEqual([]);
  });

  it('see a proxy that is down under a job of another name', async () => {
    const target = 'job="node-proxy",instance="node-2"';
    const down = [
      [`up{${target}}`, '1x10 0x30'],
      [`kube_proxy_ts_build_info{${target},mode="nftables"}`, '1x10 stale'],
    ] as const;
    expect(await firing(...seen(scrapes.healthy), ...down)).toEqual(['KubeProxyTsInstanceDown']);
  });

  it('see a watch that is silent, and endpoints that take long', async () => {
    const target = 'job="kube-proxy-ts",instance="node-1"';
    const silent = [`kube_proxy_ts_watch_idle_seconds{${target},kind="Service"}`, '0+60x40'] as const;
    expect(await firing(...seen(scrapes.healthy), silent)).toEqual(['KubeProxyTsWatchIdle']);
    const bucket = (le: string): string =>
      `kubeproxy_network_programming_duration_seconds_bucket{${target},ip_family="IPv4",le="${le}"}`;
    const slow = [
      [bucket('30'), '0x40'],
      [bucket('60'), '0+10x40'],
      [bucket('+Inf'), '0+10x40'],
    ] as const;
    expect(await firing(...seen(scrapes.healthy, {}, 'network_programming'), ...slow)).toEqual([
      'KubeProxyTsNetworkProgrammingSlow',
    ]);
  });
});

function configuration(more: object): string {
  return stringify({
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode: 'nftables',
    clusterCIDR: '10.244.0.0/16',
    conntrack: { maxPerCore: 0, min: 0 },
    ...more,
  });
}
