import type { MigratedCluster } from '../../../application/ports/migration/migrated-cluster.js';
import type { ClusterNode, ProxyDaemonSet, ProxyPod } from '../../../domain/migration/proxy-daemon-set.js';
import { anything, both, fields, list, optional, text } from '../../../domain/shapes/shape.js';
import type { ApiClient } from '../client/api-client.js';
import { coreRequests, listLinuxNodes, listPods } from '../client/cluster-requests.js';
import { listAll, send } from '../client/send.js';
import { notRunning, podShape, proxyContainer } from '../exec/proxy-pod.js';
import type { ProxyPodsOptions } from '../exec/proxy-pods.js';
import type { DaemonSets } from './daemon-sets.js';

const nodeShape = fields({ metadata: fields({ name: text, labels: optional(anything) }) });

const ownedPod = both(
  podShape,
  fields({
    metadata: fields({ ownerReferences: optional(list(fields({ kind: text, name: text }))) }),
    status: optional(fields({ conditions: optional(list(fields({ type: text, status: text }))) })),
  }),
);

const order = new Intl.Collator('en', { numeric: true });

/** The cluster of an API server, with the rights of whoever asks. */
export class ApiCluster implements MigratedCluster {
  constructor(
    private readonly client: ApiClient,
    private readonly sets: DaemonSets,
    private readonly options: ProxyPodsOptions,
  ) {}

  async nodes(signal: AbortSignal): Promise<readonly ClusterNode[]> {
    const nodes = await listAll(this.client, listLinuxNodes(), nodeShape, { signal });
    return nodes
      .map(({ metadata: { name, labels = {} } }) => ({ name, labels: labels as ClusterNode['labels'] }))
      .sort((one, other) => order.compare(one.name, other.name));
  }

  async daemonSets(signal: AbortSignal): Promise<readonly ProxyDaemonSet[]> {
    return (await this.sets.list(signal)).map(({ proxy }) => proxy);
  }

  async pods(signal: AbortSignal, node?: string): Promise<readonly ProxyPod[]> {
    const { namespace, selector } = this.options;
    const selection = {
      namespace,
      labelSelector: selector,
      ...(node !== undefined && { fieldSelector: `spec.nodeName=${node}` }),
    };
    const pods = await listAll(this.client, listPods(selection), ownedPod, { signal });
    return pods.flatMap((pod): ProxyPod[] => {
      const { metadata, spec, status: now } = pod;
      const owner = metadata.ownerReferences?.find(({ kind }) => kind === 'DaemonSet');
      if (!owner || spec?.nodeName === undefined) return [];
      const isEnding = metadata.deletionTimestamp !== undefined;
      const isReady = now?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True');
      const state = notRunning(pod, proxyContainer(pod)?.name ?? '') ?? 'it runs, and is not ready';
      return [
        {
          name: metadata.name,
          node: spec.nodeName,
          daemonSet: owner.name,
          isReady: Boolean(isReady) && !isEnding,
          state: isEnding ? 'it is about to end' : state,
        },
      ];
    });
  }

  async label(node: string, key: string, value: string | undefined, signal: AbortSignal): Promise<void> {
    const patch = coreRequests.patchNode(node, { metadata: { labels: { [key]: value ?? null } } });
    await send(this.client, patch, anything, { contentType: 'application/merge-patch+json', signal });
  }
}
