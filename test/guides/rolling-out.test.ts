import type { V1EndpointSlice } from '@kubernetes/client-node';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { until } from '../support/until.js';
import { cart, cartFromOutside, GuideCluster } from './cluster/guide-cluster.js';
import { readGuide } from './runner/guide.js';

const page = 'docs/guides/rolling-out.md';
const steps = readGuide(page);

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

  it('one node, back, all nodes, and back: no request is lost, and objects are as they were', async () => {
    const before = withoutEndpoints(guide.cluster.written());
    const clients = await guide.clients(cart, cartFromOutside);
    await guide.section(steps, 'Prepare');
    expect(await guide.proxiesRunning()).toEqual([]);
    await guide.section(steps, 'The first node');
    expect(await guide.proxiesRunning()).toEqual(['clnode1']);
    await guide.section(steps, 'One node back');
    expect(await guide.proxiesRunning()).toEqual([]);
    await guide.section(steps, 'All nodes');
    expect(await guide.proxiesRunning()).toEqual(['clnode1', 'clnode2']);
    // Some metrics begin with the first change after the start.
    changeEndpoints(guide);
    const named = metricsNamed(await readFile(page, 'utf8'));
    await until('all metrics are there', async () => (await guide.missingMetrics(named)).length === 0);
    await guide.section(steps, 'Everything back');
    expect(await guide.proxiesRunning()).toEqual([]);
    await guide.expectNothingLost(clients);
    expect(withoutEndpoints(guide.cluster.written())).toEqual(before);
  });
});

it('names the alerts that there are', async () => {
  const text = await readFile(page, 'utf8');
  const alerts = parse(await readFile('deploy/chart/monitoring/alerts.yaml', 'utf8')) as {
    groups: readonly { rules: readonly { alert: string }[] }[];
  };
  const named = [...text.matchAll(/`(KubeProxy\w+)`/g)].map(([, name]) => name!);
  expect(named.sort()).toEqual(alerts.groups.flatMap(({ rules }) => rules.map(({ alert }) => alert)).sort());
});

/** An endpoint that is not ready goes, now. */
function changeEndpoints({ cluster }: GuideCluster): void {
  const slice = cluster
    .objects<V1EndpointSlice>('discovery.k8s.io/v1', 'EndpointSlice')
    .find(({ metadata }) => metadata!.name === 'cart-a')!;
  const annotations = { 'endpoints.kubernetes.io/last-change-trigger-time': new Date().toISOString() };
  cluster.put([
    {
      ...slice,
      metadata: { ...slice.metadata, annotations },
      endpoints: slice.endpoints!.filter(({ conditions }) => conditions?.ready !== false),
    } as never,
  ]);
}

const withoutEndpoints = (objects: Record<string, object>): Record<string, object> =>
  Object.fromEntries(Object.entries(objects).filter(([name]) => name !== 'EndpointSlice shop/cart-a'));

const metricsNamed = (text: string): readonly string[] =>
  [...text.matchAll(/`((?:kubeproxy|process)_\w+)`/g)].map(([, name]) => name!);
