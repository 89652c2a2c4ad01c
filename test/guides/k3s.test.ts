import type { V1Pod } from '@kubernetes/client-node';
import { askTimes } from '../support/testbed/traffic.js';
import { cart, GuideCluster } from './cluster/guide-cluster.js';
import { makeImageArchive } from './cluster/image-archive.js';
import { K3s } from './cluster/k3s.js';
import { clusterTools } from './runner/clone.js';
import { readGuide } from './runner/guide.js';
import { Machine } from './runner/machine.js';

const steps = readGuide('docs/clusters/k3s.md');
/** Where a node of k3s reaches an API server. */
const LOAD_BALANCER = { address: '127.0.0.1', port: 6444 };
const KUBECONFIG = '/etc/rancher/k3s/k3s.yaml';

describe('docs/clusters/k3s.md', () => {
  let machine: Machine;
  let k3s: K3s;
  let guide: GuideCluster;

  beforeAll(async () => {
    machine = await Machine.make({ commandLine: (command) => command });
    k3s = new K3s(machine);
    guide = await GuideCluster.start({ machine, standIns: { k3s: k3s.k3s, systemctl: k3s.systemctl } });
    const { cluster, checkout } = guide;
    k3s.serve(cluster);
    await cluster.answerAt(LOAD_BALANCER);
    const flatten = 'mkdir -p "${2%/*}" && "$0" config view --raw --flatten --kubeconfig="$1" >"$2"';
    await machine.run(['sh', '-c', flatten, `${clusterTools[0]}/kubectl`, cluster.kubeconfig, KUBECONFIG]);
    await makeImageArchive(checkout.folder);
  });

  afterAll(async () => {
    await guide?.close();
    await machine?.remove();
  });

  const pods = (): readonly V1Pod[] => guide.cluster.objects<V1Pod>('v1', 'Pod');

  it('has the proxy on every node after the kube-proxy inside k3s, and leaves all as it was', async () => {
    const state = async (): Promise<unknown> => [guide.cluster.written(), await machine.files('/etc')];
    const before = await state();
    await guide.section(steps, 'Install');
    expect(k3s.runsKubeProxy).toBe(false);
    expect(await guide.proxiesRunning()).toEqual(['clnode1', 'clnode2']);
    expect(await askTimes(3, guide.testbed.pod, cart)).toHaveLength(3);

    await guide.section(steps, 'Verify');
    await guide.section(steps, 'Way back');
    expect(k3s.runsKubeProxy).toBe(true);
    expect(pods()).toEqual([]);
    expect(await state()).toEqual(before);
    expect(guide.shell.left(steps)).toEqual([]);
  });
});
