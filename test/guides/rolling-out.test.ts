import { readFile } from 'node:fs/promises';
import type { V1DaemonSet } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { fits } from '../support/cluster/daemon-sets.js';
import { cart, cartFromOutside, GuideCluster } from './cluster/guide-cluster.js';
import { readGuide } from './runner/guide.js';

const page = 'docs/install/rolling-out.md';
const steps = readGuide(page);

/** Each look at a node is a start of the program. Milliseconds. */
const LIMIT = 400_000;

describe(page, () => {
  let guide: GuideCluster;
  beforeAll(async () => {
    guide = await GuideCluster.start({ mode: 'nftables' });
    await guide.section(steps, 'Rolling out');
  });
  afterAll(async () => {
    await guide?.close();
    expect(guide.shell.left(steps)).toEqual([]);
  });

  let before: Record<string, object>;

  /** The DaemonSets that run on a Linux node with these labels. */
  const proxiesOf = (labels: Readonly<Record<string, string>>): readonly string[] =>
    guide.cluster
      .objects<V1DaemonSet>('apps/v1', 'DaemonSet')
      .filter((daemonSet) =>
        fits({ metadata: { labels: { 'kubernetes.io/os': 'linux', ...labels } } }, daemonSet),
      )
      .map(({ metadata }) => metadata!.name!);

  it(
    'one node, and back: no request is lost',
    async () => {
      before = guide.cluster.written();
      const clients = await guide.clients(cart, cartFromOutside);
      await guide.section(steps, 'Prepare');
      expect(proxiesOf({})).toEqual(['kube-proxy']);
      expect(proxiesOf({ 'service-proxy': 'none' })).toEqual([]);
      expect(proxiesOf({ 'service-proxy': 'kube-proxy-ts' })).toEqual(['kube-proxy-ts']);
      expect(proxiesOf({ 'service-proxy': 'kube-proxy' })).toEqual(['kube-proxy']);
      await guide.section(steps, 'Compare first');
      await guide.runsOn();
      await guide.section(steps, 'The first node');
      await guide.runsOn('clnode1');
      await guide.section(steps, 'One node back');
      await guide.runsOn();
      await guide.expectNothingLost(clients);
    },
    LIMIT,
  );

  it(
    'all nodes: no request is lost',
    async () => {
      const clients = await guide.clients(cart, cartFromOutside);
      await guide.section(steps, 'All nodes');
      await guide.runsOn('clnode1', 'clnode2');
      await guide.section(steps, 'New nodes');
      expect(proxiesOf({})).toEqual(['kube-proxy-ts']);
      expect(proxiesOf({ 'service-proxy': 'none' })).toEqual([]);
      expect(proxiesOf({ 'service-proxy': 'kube-proxy-ts' })).toEqual(['kube-proxy-ts']);
      expect(proxiesOf({ 'service-proxy': 'kube-proxy' })).toEqual(['kube-proxy']);
      await guide.expectNothingLost(clients);
    },
    LIMIT,
  );

  it(
    'everything back: no request is lost, and objects are as they were',
    async () => {
      const clients = await guide.clients(cart, cartFromOutside);
      await guide.section(steps, 'Everything back');
      await guide.runsOn();
      await guide.expectNothingLost(clients);
      expect(guide.cluster.written()).toEqual(before);
    },
    LIMIT,
  );
});

it('names the alerts that there are', async () => {
  const text = await readFile(page, 'utf8');
  const alerts = parse(await readFile('deploy/chart/monitoring/alerts.yaml', 'utf8')) as {
    groups: readonly { rules: readonly { alert: string }[] }[];
  };
  const named = [...text.matchAll(/`(KubeProxy\w+)`/g)].map(([, name]) => name!);
  expect(named.sort()).toEqual(alerts.groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)).sort());
});

it('names metrics that the dashboard or the alerts show', async () => {
  const text = await readFile(page, 'utf8');
  const monitoring = await Promise.all(
    ['dashboard.json', 'alerts.yaml'].map((name) => readFile(`deploy/chart/monitoring/${name}`, 'utf8')),
  );
  const named = [...text.matchAll(/`((?:kubeproxy|kube_proxy_ts|process)_\w+)`/g)].map(([, name]) => name!);
  expect(named.length).toBeGreaterThan(3);
  expect(named.filter((name) => !monitoring.join('').includes(name))).toEqual([]);
});
