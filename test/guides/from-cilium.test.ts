import type { V1Node, V1Pod } from '@kubernetes/client-node';
import { askTimes } from '../support/testbed/traffic.js';
import { cart, GuideCluster } from './cluster/guide-cluster.js';
import { neighbour } from './cluster/neighbour.js';
import { readGuide } from './runner/guide.js';

const page = 'docs/clusters/from-cilium.md';
const steps = readGuide(page);

interface CiliumNodeConfig {
  readonly spec: {
    readonly nodeSelector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly defaults: Readonly<Record<string, string>>;
  };
}

describe(page, () => {
  let guide: GuideCluster;

  beforeAll(async () => {
    guide = await GuideCluster.start({});
    guide.cluster.put([neighbour('cilium', 'quay.io/cilium/cilium:v1.18.0', [])]);
    await guide.section(steps, "From Cilium's kube-proxy replacement");
  });
  afterAll(async () => {
    await guide?.close();
    expect(guide.shell.left(steps)).toEqual([]);
  });

  const nodes = (): readonly V1Node[] => guide.cluster.objects<V1Node>('v1', 'Node');
  const agents = (): Readonly<Record<string, string>> =>
    Object.fromEntries(
      guide.cluster
        .objects<V1Pod>('v1', 'Pod')
        .filter(({ metadata }) => metadata!.labels!['k8s-app'] === 'cilium')
        .map(({ metadata, spec }) => [spec!.nodeName!, metadata!.uid!]),
    );
  /** The settings that Cilium takes on a node beside its own. */
  const settings = (name: string): object => {
    const labels = nodes().find(({ metadata }) => metadata!.name === name)!.metadata!.labels!;
    const configs = guide.cluster.objects<CiliumNodeConfig>('cilium.io/v2', 'CiliumNodeConfig');
    const own = configs.filter(({ spec: { nodeSelector } }) =>
      Object.entries(nodeSelector.matchLabels).every(([key, value]) => labels[key] === value),
    );
    return Object.assign({}, ...own.map(({ spec }) => spec.defaults)) as object;
  };

  it('one node, whose agent starts anew with what is meant for it, and back: objects are as they were', async () => {
    const before = guide.cluster.written();
    await guide.section(steps, 'Prepare');
    await guide.runsOn();
    const former = agents();
    await guide.section(steps, 'One node');
    await guide.runsOn('clnode1');
    expect(await askTimes(3, guide.testbed.pod, cart)).toHaveLength(3);
    expect([settings('clnode1'), settings('clnode2')]).toEqual([
      { 'kube-proxy-replacement': 'false', 'kube-proxy-replacement-healthz-bind-address': '' },
      {},
    ]);
    const changed = agents();
    expect(changed.clnode1).not.toBe(former.clnode1);
    expect(changed.clnode2).toBe(former.clnode2);

    await guide.section(steps, 'One node back');
    await guide.runsOn();
    expect(await guide.testbed.node.run(['nft', 'list', 'tables'])).not.toContain('kube-proxy');
    expect(settings('clnode1')).toEqual({});
    expect(agents().clnode1).not.toBe(changed.clnode1);
    expect(nodes().some(({ spec }) => spec!.unschedulable)).toBe(false);
    await guide.section(steps, 'Everything back');
    expect(guide.cluster.written()).toEqual(before);
  });
});
