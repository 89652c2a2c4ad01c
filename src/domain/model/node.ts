import type { Address } from '../net/address.js';

/** The parts of this node's Node object that the proxy uses. */
export interface Node {
  readonly name: string;
  /** Label topology.kubernetes.io/zone; "" without it. */
  readonly zone: string;
  /** The primary address, and that of the other family: none, one or two (docs/internals/spec/server.md §2). */
  readonly ips: readonly Address[];
  /** Its internal and external addresses that are not among `ips`. Missing if there are none. */
  readonly furtherAddresses?: readonly Address[];
  readonly podCIDRs: readonly string[];
  /** Being deleted, or about to be removed by the cluster autoscaler: load balancers should send no traffic. */
  readonly draining: boolean;
}
