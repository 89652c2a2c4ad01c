import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { askOnce } from '../support/testbed/traffic.js';
import { cart, GuideCluster } from './cluster/guide-cluster.js';
import { imageIn, packOnly } from './cluster/image-archive.js';
import { readGuide } from './runner/guide.js';
import { knowing } from './runner/stand-ins.js';

const page = 'docs/clusters/kind.md';
const steps = readGuide(page);

describe(page, () => {
  let guide: GuideCluster;
  const kind = knowing({
    'create cluster': async () => guide.populate('iptables'),
    'create cluster --config *': async ([file], { folder }) => {
      const { kind: is, networking, nodes } = parse(await readFile(join(folder, file!), 'utf8'));
      expect([is, networking.kubeProxyMode, nodes.length]).toEqual(['Cluster', 'none', 2]);
      return guide.populate(undefined);
    },
    'load image-archive *': async ([file], { folder }) => {
      const name = await imageIn(join(folder, file!));
      for (const kubelet of guide.cluster.kubelets) kubelet.images!.add(name);
    },
    'delete cluster': () => guide.depopulate(),
  });

  beforeAll(async () => {
    guide = await GuideCluster.start({
      empty: true,
      nodes: ['kind-control-plane', 'kind-worker'],
      standIns: { kind },
    });
    for (const kubelet of guide.cluster.kubelets) kubelet.images = new Set();
    await packOnly(guide.checkout.folder);
    await guide.section(steps, 'kind');
  });
  afterAll(async () => {
    await guide?.close();
    expect(guide.shell.left(steps)).toEqual([]);
  });

  it('a cluster without kube-proxy', async () => {
    await guide.section(steps, 'New cluster without kube-proxy');
    expect(await askOnce(guide.testbed.pod, cart)).toMatch(/^b[12]$/);
    await guide.section(steps, 'New cluster without kube-proxy: way back');
  });

  it('in place of kube-proxy, and back', async () => {
    await guide.section(steps, "Replace kind's kube-proxy");
    const clients = await guide.clients(cart);
    await guide.section(steps, "Replace kind's kube-proxy: way back");
    await guide.expectNothingLost(clients);
    const [daemonSet] = guide.cluster.objects('apps/v1', 'DaemonSet');
    expect(JSON.stringify(daemonSet!.spec)).toContain('registry.k8s.io/kube-proxy:');
  });
});
