import type { StandInApiServer } from './api-server.js';
import type { ApiObject } from './object-store.js';

/** A node with a pod of a proxy, as a DaemonSet of kubeadm makes it. */
export interface SimulatedNode {
  readonly name: string;
  /** Over the running pod's own fields; undefined: there is no pod. */
  readonly pod?: { readonly spec?: object; readonly status?: object; readonly metadata?: object } | undefined;
}

const CONTAINER = {
  name: 'kube-proxy',
  image: 'registry.example/kube-proxy-ts:0.1.0',
  command: [
    '/usr/local/bin/kube-proxy',
    '--config=/var/lib/kube-proxy/config.conf',
    '--hostname-override=$(NODE_NAME)',
  ],
};
const RUNNING = {
  phase: 'Running',
  containerStatuses: [{ name: 'kube-proxy', state: { running: {} } }],
};

/** Puts nodes and the pods of their proxies into an API server. The pod of `node-1` is `kube-proxy-node-1`. */
export function putNodes(api: StandInApiServer, nodes: readonly SimulatedNode[]): void {
  for (const node of nodes) {
    api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: node.name } });
    if (!('pod' in node) || node.pod) api.put(podOf(node));
  }
}

function podOf({ name, pod = {} }: SimulatedNode): ApiObject {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `kube-proxy-${name}`,
      namespace: 'kube-system',
      labels: { 'k8s-app': 'kube-proxy' },
      ...pod.metadata,
    },
    spec: { nodeName: name, containers: [CONTAINER], ...pod.spec },
    status: { ...RUNNING, ...pod.status },
  };
}
