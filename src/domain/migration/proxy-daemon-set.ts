import type { SideMode } from '../compare/side.js';

/** Where a migration may lead: a mode of this program, or back to kube-proxy. */
export type Destination = SideMode | 'kube-proxy';

/** What of its configuration only mode ipvs heeds, as far as it is not the default. */
export interface IpvsSettings {
  readonly scheduler?: string;
  readonly excludeCIDRs?: readonly string[];
  readonly strictARP?: boolean;
  /** By the names of the fields, such as `tcpTimeout: 15m0s`. */
  readonly timeouts: readonly string[];
}

/** A DaemonSet that runs a service proxy. */
export interface ProxyDaemonSet {
  readonly namespace: string;
  readonly name: string;
  readonly program: 'kube-proxy' | 'kube-proxy-ts';
  /** The tag of its image; the digest, or `-`, without one. */
  readonly version: string;
  /** As configured: `auto` and `userspace` are among the names; iptables where nothing is said. */
  readonly mode: string;
  /** The labels that a node must have. */
  readonly nodeSelector: Readonly<Record<string, string>>;
  readonly ipvs: IpvsSettings;
}

/** A pod of such a DaemonSet, or one that somebody else started. */
export interface ProxyPod {
  readonly name: string;
  readonly node: string;
  /** The name of its DaemonSet. */
  readonly daemonSet: string;
  /** It is ready and not about to end. */
  readonly isReady: boolean;
  /** Why it is not ready, for people. */
  readonly state: string;
}

export interface ClusterNode {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}
