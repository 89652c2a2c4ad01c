import type { Address } from '../net/address.js';

/** What the proxy keeps of its own Node. */
export interface Node {
  readonly name: string;
  /** Label topology.kubernetes.io/zone; "" without one. */
  readonly zone: string;
  /** The address that stands for it, and that of the other family; none, one or two (docs/spec/server.md §2). */
  readonly ips: readonly Address[];
  readonly podCIDRs: readonly string[];
  /** Being deleted, or tainted so by the cluster autoscaler: load balancers shall turn away. */
  readonly leaving: boolean;
}
