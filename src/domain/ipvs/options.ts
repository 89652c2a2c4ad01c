import type { NodeNetwork } from '../forwarding/node-network.js';

/** What the rules of a service port depend on besides its forwarding entry. */
export interface IpvsOptions {
  readonly node: Pick<NodeNetwork, 'nodePortIPs' | 'nodeAddresses'>;
  /** The scheduler of Services that do not ask for another one. */
  readonly scheduler: string;
  /** Whether the kernel has the scheduler. */
  readonly hasScheduler: (name: string) => boolean;
}

/** Whether rules compiled for one node suit the other as well. */
export function compilesAlike(one: IpvsOptions['node'], other: IpvsOptions['node']): boolean {
  return (
    one === other ||
    (JSON.stringify(one.nodePortIPs) === JSON.stringify(other.nodePortIPs) &&
      JSON.stringify(one.nodeAddresses) === JSON.stringify(other.nodeAddresses))
  );
}
