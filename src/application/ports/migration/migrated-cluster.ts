import type { ClusterNode, ProxyDaemonSet, ProxyPod } from '../../../domain/migration/proxy-daemon-set.js';

/** The nodes of a cluster, and the service proxies on them. Every call is one try; whoever calls may repeat it. */
export interface MigratedCluster {
  /** Those that run Linux, in the order of their names. @throws if they cannot be listed */
  nodes(signal: AbortSignal): Promise<readonly ClusterNode[]>;
  /** DaemonSets that run a service proxy. @throws if they cannot be listed, or their configuration cannot be read */
  daemonSets(signal: AbortSignal): Promise<readonly ProxyDaemonSet[]>;
  /**
   * The pods of these DaemonSets, those that are about to end among them.
   * @param node of this node only
   * @throws if they cannot be listed
   */
  pods(signal: AbortSignal, node?: string): Promise<readonly ProxyPod[]>;
  /** Gives the node a label; undefined takes it away. Idempotent. @throws if the node cannot be written */
  label(node: string, key: string, value: string | undefined, signal: AbortSignal): Promise<void>;
}
