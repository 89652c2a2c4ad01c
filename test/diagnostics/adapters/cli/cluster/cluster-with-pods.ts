import type { V1Pod } from '@kubernetes/client-node';
import type { nodeComparison } from '../../../../../src/diagnostics/application/cluster/cluster-comparison.js';
import { StandInApiServer } from '../../../../support/api-server/api-server.js';
import type { ApiObject } from '../../../../support/api-server/object-store.js';
import { collectionOf } from '../../../../support/api-server/resource-path.js';
import { asStored, clusterAdmission } from '../../../../support/cluster/cluster-admission.js';
import { DaemonSets } from '../../../../support/cluster/daemon-sets.js';
import { kubeadmObjects } from '../../../../support/cluster/kubeadm-objects.js';

const PODS = collectionOf('v1', 'Pod');
const namespace = 'kube-system';

export type NodeComparison = ReturnType<typeof nodeComparison>;

/** How a pod that compares a node ends. */
export type Compared = NodeComparison | { readonly log: string } | 'hangs';

/** The output on a node where nothing differs. */
export const equal: NodeComparison = {
  nodeRules: { kernel: '6.1.0', iptables: 'nft 1.8.9', rules: [], schedulers: [], unread: [] },
  sides: ['kernel', 'plan'],
  families: [
    {
      ...{
        family: 'IPv4',
        modes: ['iptables', 'iptables'],
        equalClasses: 9,
        differentClasses: 0,
        unknownClasses: 0,
      },
      ...{ knownDifferences: [], differences: [], omitted: 0, unknowns: [] },
    },
  ],
  localAddresses: [],
  notes: [],
  problems: [],
};

/** A DaemonSet of this proxy, as the chart makes one. */
export function installed(name: string): ApiObject {
  const labels = { 'k8s-app': name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: name,
          hostNetwork: true,
          nodeSelector: { 'service-proxy': name },
          containers: [
            {
              name: 'kube-proxy-ts',
              image: 'registry.example/kube-proxy-ts:0.1.0',
              command: [
                '/usr/local/bin/kube-proxy',
                '--config=/var/lib/kube-proxy/config.conf',
                '--hostname-override=$(NODE_NAME)',
              ],
              volumeMounts: [{ name: 'config', mountPath: '/var/lib/kube-proxy' }],
            },
          ],
          volumes: [{ name: 'config', configMap: { name } }],
        },
      },
    },
  } as never;
}

/**
 * An API server with the controller of DaemonSets, whose pods are ready at once, and end at once. A pod that compares its node prints
 * what the test says.
 */
export class ClusterWithPods {
  compared: (node: string) => Compared = () => equal;
  /** Pods that compared nodes, as they were made. */
  readonly comparers: V1Pod[] = [];
  private readonly logs = new Map<string, string>();
  private readonly unsubscribe: () => void;
  private readonly daemonSets: DaemonSets;

  private constructor(readonly api: StandInApiServer) {
    this.daemonSets = new DaemonSets(api.store);
    this.unsubscribe = api.store.subscribe(({ after, removed }) => {
      if (after.kind === 'Pod' && !removed) setImmediate(() => this.run(after as never));
    });
    api.answerOther = ({ path }) => {
      const [, name = ''] = /\/pods\/([^/]+)\/log$/.exec(path) ?? [];
      return this.logs.has(name) ? { code: 200, body: this.logs.get(name) } : undefined;
    };
  }

  static async start(): Promise<ClusterWithPods> {
    const api = await StandInApiServer.start();
    api.clusterRole = undefined;
    api.admission = clusterAdmission;
    return new ClusterWithPods(api);
  }

  async close(): Promise<void> {
    this.unsubscribe();
    this.daemonSets.stop();
    await this.api.close();
  }

  /** kube-proxy, on all nodes. */
  putKubeProxy(): void {
    for (const object of kubeadmObjects('')) this.put(object);
  }

  putNode(name: string, pool = 'a'): void {
    const labels = { pool, 'kubernetes.io/os': 'linux' };
    this.put({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  }

  put(object: ApiObject): void {
    this.api.store.put(asStored(object, undefined));
  }

  get pods(): readonly V1Pod[] {
    return this.api.objects('v1', 'Pod') as never;
  }

  private run(pod: V1Pod): void {
    const { name, deletionTimestamp } = pod.metadata!;
    const now = this.api.store.get(PODS, namespace, name!) as never as V1Pod | undefined;
    if (!now || now.metadata!.uid !== pod.metadata!.uid) return;
    if (deletionTimestamp) return void this.api.store.remove(PODS, namespace, name!);
    if (now.status?.phase && now.status.phase !== 'Pending') return;
    const command = pod.spec!.containers[0]!.command ?? [];
    if (command[1] !== 'compare') return this.report(now, 'Running', true);
    this.comparers.push(pod);
    const compared = this.compared(pod.spec!.nodeName!);
    if (compared === 'hangs') return this.report(now, 'Running', false);
    const log =
      'log' in compared ? compared.log : `W1126 a warning\n${JSON.stringify(compared, undefined, 2)}\n`;
    this.logs.set(name!, log);
    this.report(now, 'log' in compared ? 'Failed' : 'Succeeded', false);
  }

  private report(pod: V1Pod, phase: string, ready: boolean): void {
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    const { name } = pod.spec!.containers[0]!;
    const state = phase === 'Running' ? { running: {} } : { terminated: { reason: 'Completed' } };
    const containerStatuses = [{ name, ready, state }];
    this.api.store.put({ ...pod, status: { phase, conditions, containerStatuses } } as never);
  }
}
