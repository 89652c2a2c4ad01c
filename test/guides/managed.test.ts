import type { V1ConfigMap, V1DaemonSet, V1Pod } from '@kubernetes/client-node';
import { parse } from '../bootstrap/configuration/support.js';
import { askTimes } from '../support/testbed/traffic.js';
import { until } from '../support/until.js';
import { EKS_IMAGE, eksObjects } from './cluster/eks-objects.js';
import { cart, GuideCluster } from './cluster/guide-cluster.js';
import { readGuide } from './runner/guide.js';
import { Machine } from './runner/machine.js';
import { knowing } from './runner/stand-ins.js';

const steps = readGuide('docs/clusters/managed.md');
const MANIFEST = '/etc/kubernetes/manifests/kube-proxy.manifest';
/** What GKE's static pod passes (test/bootstrap/configuration/installers.test.ts). */
const GKE = [
  '--master=https://10.0.0.10:6443',
  '--cluster-cidr=10.244.0.0/16',
  '--oom-score-adj=-998',
  '--iptables-sync-period=1m',
  '--iptables-min-sync-period=10s',
  '--ipvs-sync-period=1m',
  '--ipvs-min-sync-period=10s',
  '--detect-local-mode=NodeCIDR',
];

describe('docs/clusters/managed.md', () => {
  /** A node that one is logged in to, and at the same time the machine with kubectl. */
  let machine: Machine;
  let guide: GuideCluster;
  let isAddOn = true;

  beforeAll(async () => {
    machine = await Machine.make({ commandLine: (command) => command });
    guide = await GuideCluster.start({
      machine,
      env: {
        CLUSTER: 'shop',
        REGISTRY: 'registry.example.com/team',
        NODE: 'clnode1',
        API_SERVER: 'https://10.0.0.10:6443',
        CLUSTER_CIDR: '10.244.0.0/16',
      },
      standIns: {
        aws: knowing({
          'eks delete-addon --cluster-name shop --addon-name kube-proxy --preserve': () => {
            isAddOn = false;
          },
          'eks create-addon --cluster-name shop --addon-name kube-proxy --resolve-conflicts OVERWRITE':
            () => {
              isAddOn = true;
            },
        }),
      },
    });
  });

  afterAll(async () => {
    await guide?.close();
    await machine?.remove();
  });

  const pods = (): readonly V1Pod[] => guide.cluster.objects<V1Pod>('v1', 'Pod');
  const placed = (): readonly string[] =>
    pods()
      .map(({ spec }) => `${spec!.nodeName} ${spec!.containers[0]!.image}`)
      .sort();
  /** A pod without a readiness probe is ready before its rules stand. */
  const cartAnswers = (): Promise<void> =>
    until('the service answers', async () => (await askTimes(3, guide.testbed.pod, cart)).length === 3);

  it('EKS: another image in the DaemonSet of the add-on, and back', async () => {
    guide.cluster.put(eksObjects());
    const before = guide.cluster.written();
    /** What EKS would undo. */
    const undone: unknown[] = [];
    const unsubscribe = guide.cluster.api.store.subscribe(({ after }) => {
      const { spec } = after as V1DaemonSet;
      const changed = after.kind === 'DaemonSet' && spec!.template.spec!.containers[0]!.image !== EKS_IMAGE;
      if (isAddOn && changed) undone.push(after);
    });
    await guide.section(steps, 'EKS: another image for its DaemonSet');
    const image = 'registry.example.com/team/kube-proxy-ts:0.1.0';
    expect(placed()).toEqual([`clnode1 ${image}`, `clnode2 ${image}`]);
    await cartAnswers();

    await guide.section(steps, 'EKS: way back');
    unsubscribe();
    expect(undone).toEqual([]);
    expect(isAddOn).toBe(true);
    expect(placed()).toEqual([`clnode1 ${EKS_IMAGE}`, `clnode2 ${EKS_IMAGE}`]);
    expect(guide.cluster.written()).toEqual(before);
  });

  it('GKE: its own DaemonSet on a node whose static pod is parked, and back', async () => {
    await machine.run(['sh', '-c', `mkdir -p "\${1%/*}" && echo 'kind: Pod' >"$1"`, 'sh', MANIFEST]);
    const state = async (): Promise<unknown> => [guide.cluster.written(), await machine.files('/etc')];
    const before = await state();
    await guide.section(steps, 'GKE: its own DaemonSet on chosen nodes');
    expect(await machine.files('/etc/kubernetes/manifests')).toBe('');
    expect(placed()).toContain('clnode1 registry.example.com/team/kube-proxy-ts:0.1.0');
    expect(placed()).not.toContain('clnode2 registry.example.com/team/kube-proxy-ts:0.1.0');
    await cartAnswers();

    const [map] = guide.cluster
      .objects<V1ConfigMap>('v1', 'ConfigMap')
      .filter(({ metadata }) => metadata!.name === 'kube-proxy-ts');
    const { clusterCIDR, detectLocalMode, iptables, ipvs, oomScoreAdj, conntrack } = parse(GKE).configuration;
    expect(parse(['--config', 'f'], map!.data!['config.conf']).configuration).toMatchObject({
      clusterCIDR,
      detectLocalMode,
      iptables,
      ipvs,
      oomScoreAdj,
      conntrack,
    });

    await guide.section(steps, 'GKE: way back');
    expect(await state()).toEqual(before);
    expect(guide.shell.left(steps)).toEqual([]);
  });
});
