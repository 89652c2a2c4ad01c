import { readFile } from 'node:fs/promises';
import type { ApiObject } from '../../support/api-server/object-store.js';
import { kubeadmObjects } from '../../support/cluster/kubeadm-objects.js';
import { StandInCluster } from '../../support/cluster/stand-in-cluster.js';
import { Namespace } from '../../support/program/in-namespace.js';
import { Host } from '../../support/testbed/host.js';
import { Testbed } from '../../support/testbed/testbed.js';
import { Backend } from '../../support/testbed/traffic.js';

/** What kube-proxy's transactions were recorded for, and they themselves. */
const recorded = (name: string): Promise<string> =>
  readFile(new URL(`../../conformance/rollback/${name}`, import.meta.url), 'utf8');

/** A service of the recording, from a pod and from outside. */
export const cart = { what: 'http', dst: '10.96.77.1', port: 80 } as const;
export const cartFromOutside = { what: 'http', dst: '203.0.113.9', port: 80, src: '203.0.113.5' } as const;

/**
 * A cluster as kubeadm makes it, of two nodes: on `clnode1` there are a pod, clients outside, and the endpoints of `cart`; kube-proxy
 * is on both.
 */
export class GuideCluster {
  private constructor(
    readonly testbed: Testbed,
    readonly cluster: StandInCluster,
    private readonly second: Namespace,
    private readonly hosts: readonly Host[],
  ) {}

  /** @param mode kube-proxy's; of mode nftables there are its rules, on the first node */
  static async start(mode: string, withKubeProxy = true): Promise<GuideCluster> {
    const [testbed, second] = await Promise.all([Testbed.open(), Namespace.open('guide')]);
    const other = new Host(second.name);
    for (const command of [
      'link add node0 type veth peer name node0p',
      'link set node0 up',
      'link set node0p up',
      'address add 198.51.100.12/24 dev node0',
    ])
      await other.run(['ip', ...command.split(' ')]);
    await Promise.all([
      Backend.start(testbed, 'b1', '10.244.1.10'),
      Backend.start(testbed, 'b2', '10.244.2.11'),
    ]);
    const startKubeProxy = async (config: string): Promise<void> => {
      if (!/^mode: nftables$/m.test(config)) return;
      for (const family of ['ip', 'ip6'])
        await testbed.node.run(['nft', '-f', '-'], await recorded(`kube-proxy-start-${family}.nft`));
    };
    const cluster = await StandInCluster.start([
      { name: 'clnode1', host: testbed.node, address: '198.51.100.11', startKubeProxy },
      { name: 'clnode2', host: other, address: '198.51.100.12' },
    ]);
    const { items } = JSON.parse(await recorded('objects.json')) as { items: readonly ApiObject[] };
    const node = items.find(({ kind }) => kind === 'Node')!;
    const labels = { 'kubernetes.io/os': 'linux', 'kubernetes.io/hostname': 'clnode2' };
    cluster.put([
      ...items,
      {
        ...node,
        metadata: { name: 'clnode2', labels },
        spec: { podCIDR: '10.244.2.0/24', podCIDRs: ['10.244.2.0/24'] },
        status: { addresses: [{ type: 'InternalIP', address: '198.51.100.12' }] },
      },
      ...(withKubeProxy ? kubeadmObjects(mode) : []),
    ]);
    return new GuideCluster(testbed, cluster, second, [other]);
  }

  async close(): Promise<void> {
    await this.cluster.close();
    await Promise.all(this.hosts.map((host) => host.killAgent()));
    await Promise.all([this.testbed.close(), this.second.close()]);
  }
}
