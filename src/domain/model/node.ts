/** What the proxy keeps of its own Node. */
export interface Node {
  readonly name: string;
  /** Label topology.kubernetes.io/zone; "" without one. */
  readonly zone: string;
  /** Canonical; InternalIP addresses in status order, then ExternalIP addresses. */
  readonly addresses: readonly string[];
  readonly podCIDRs: readonly string[];
  /** Being deleted, or tainted so by the cluster autoscaler: load balancers shall turn away. */
  readonly leaving: boolean;
}
