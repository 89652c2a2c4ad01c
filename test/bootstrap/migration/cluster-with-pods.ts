import type { V1Pod } from '@kubernetes/client-node';
import { stringify } from 'yaml';
import type { Inspection } from '../../../src/domain/migration/inspection.js';
import { StandInApiServer } from '../../support/api-server/api-server.js';
import type { ApiObject } from '../../support/api-server/object-store.js';
import { collectionOf } from '../../support/api-server/resource-path.js';
import { asStored, clusterAdmission } from '../../support/cluster/cluster-admission.js';
import { DaemonSets } from '../../support/cluster/daemon-sets.js';
import { kubeadmObjects } from '../../support/cluster/kubeadm-objects.js';

const PODS = collectionOf('v1', 'Pod');
const namespace = 'kube-system';

/** How a pod that looks at a node ends. */
export type Looked = Inspection | { readonly log: string } | 'hangs';

/** A DaemonSet of this proxy, as the chart makes one, with its configuration. */
export function installed(name: string, mode: string, ipvs = {}): readonly ApiObject[] {
  const labels = { 'k8s-app': name };
  const config = {
    apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
    kind: 'KubeProxyConfiguration',
    mode,
    ipvs,
  };
  return [
    {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, namespace },
      data: { 'config.conf': stringify(config) },
    },
    {
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
    },
  ];
}

/**
 * An API server with the controller of DaemonSets, whose pods are ready at once, and end at once. A pod that looks at its node prints
 * what the test says.
 */
export class ClusterWithPods {
  looked: (node: string, command: readonly string[]) => Looked;
  /** Pods that looked at nodes, as they were made. */
  readonly lookers: V1Pod[] = [];
  private readonly logs = new Map<string, string>();
  private readonly unsubscribe: () => void;
  private readonly daemonSets: DaemonSets;

  private constructor(
    readonly api: StandInApiServer,
    looked: Inspection,
  ) {
    this.looked = () => looked;
    this.daemonSets = new DaemonSets(api.store);
    this.unsubscribe = api.store.subscribe(({ after, removed }) => {
      if (after.kind === 'Pod' && !removed) setImmediate(() => this.run(after as never));
    });
    api.answerOther = ({ path }) => {
      const [, name = ''] = /\/pods\/([^/]+)\/log$/.exec(path) ?? [];
      return this.logs.has(name) ? { code: 200, body: this.logs.get(name) } : undefined;
    };
  }

  static async start(looked: Inspection): Promise<ClusterWithPods> {
    const api = await StandInApiServer.start();
    api.clusterRole = undefined;
    api.admission = clusterAdmission;
    return new ClusterWithPods(api, looked);
  }

  async close(): Promise<void> {
    this.unsubscribe();
    this.daemonSets.stop();
    await this.api.close();
  }

  /** kube-proxy in a mode, on nodes that have the label. */
  putKubeProxy(mode: string): void {
    for (const object of kubeadmObjects(mode)) {
      const { spec } = object as never as { spec?: { template: { spec: object } } };
      if (object.kind === 'DaemonSet')
        this.put({
          ...object,
          spec: {
            ...spec,
            template: {
              ...spec!.template,
              spec: { ...spec!.template.spec, nodeSelector: { 'service-proxy': 'kube-proxy' } },
            },
          },
        });
      else this.put(object);
    }
  }

  putNode(name: string, label: string): void {
    const labels = { 'service-proxy': label, 'kubernetes.io/os': 'linux' };
    this.put({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels } });
  }

  put(object: ApiObject): void {
    this.api.store.put(asStored(object, undefined));
  }

  /** The value of the label of each node. */
  get where(): Readonly<Record<string, unknown>> {
    const nodes = this.api.objects('v1', 'Node') as readonly ApiObject[];
    return Object.fromEntries(
      nodes.map(({ metadata }) => [metadata.name, (metadata.labels as never)?.['service-proxy']]),
    );
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
    if (command[1] !== 'inspect') return this.report(now, 'Running', true);
    this.lookers.push(pod);
    const looked = this.looked(pod.spec!.nodeName!, command);
    if (looked === 'hangs') return this.report(now, 'Running', false);
    const log = 'log' in looked ? looked.log : `W1126 a warning\n${JSON.stringify(looked, undefined, 2)}\n`;
    this.logs.set(name!, log);
    this.report(now, 'log' in looked ? 'Failed' : 'Succeeded', false);
  }

  private report(pod: V1Pod, phase: string, ready: boolean): void {
    const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
    const { name } = pod.spec!.containers[0]!;
    const state = phase === 'Running' ? { running: {} } : { terminated: { reason: 'Completed' } };
    const containerStatuses = [{ name, ready, state }];
    this.api.store.put({ ...pod, status: { phase, conditions, containerStatuses } } as never);
  }
}
