import type { ForwardingEntry, Frontend } from '../../domain/forwarding/forwarding-entry.js';
import type { Endpoint, PortIdentity } from '../../domain/model/endpoint.js';
import type { Protocol, ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { HealthCheckState } from '../health/service-health-check.js';
import type { FamilyHistory } from '../status/sync-history.js';

/** What the proxy does for a Service, and why. Times are milliseconds since the epoch. */
export interface Explanation {
  readonly service: ServiceKey;
  /** Whether this proxy serves such a Service. */
  readonly known: boolean;
  /** What is wrong with the Service's objects in the cluster. */
  readonly problems: readonly string[];
  readonly families: readonly FamilyExplanation[];
}

export interface FamilyExplanation {
  readonly family: IpFamily;
  /** A change of it is not in the kernel yet. */
  readonly waiting: boolean;
  /** Seconds since the oldest change of the family arrived that is not in the kernel yet, while a change of it is not. */
  readonly waitingSeconds?: number;
  readonly ports: readonly PortExplanation[];
  readonly healthCheck?: HealthCheckState;
  readonly sync: FamilyHistory;
}

export interface PortExplanation {
  /** Empty for an unnamed port. */
  readonly port: string;
  readonly protocol: Protocol;
  readonly status: PortStatus;
  readonly frontends: readonly FrontendExplanation[];
  readonly endpoints: readonly EndpointExplanation[];
  /** Seconds that a client stays with its endpoint; 0 without session affinity. */
  readonly affinitySeconds: number;
  /** Sources that may use the load-balancer IPs; empty when all may. */
  readonly sourceRanges: readonly string[];
}

export type PortStatus =
  | { readonly state: 'pending' }
  | {
      readonly state: 'programmed';
      readonly since: number;
      /** How it deviates from what was asked for, such as a frontend that another service port holds. */
      readonly note?: string;
    }
  | { readonly state: 'failed'; readonly since: number; readonly reason: string; readonly attempts: number };

export interface FrontendExplanation extends Frontend {
  /** Why clients outside this node get that outcome. */
  readonly reason: string;
}

export interface EndpointExplanation extends Pick<
  Endpoint,
  'address' | 'port' | 'isLocal' | 'ready' | 'serving' | 'terminating' | 'zoneHints' | 'nodeHints'
> {
  /** Whether any frontend may lead to it. */
  readonly used: boolean;
}

/** Why clients outside this node get a frontend's outcome. */
export function frontendReason({ endpoints }: ForwardingEntry, { policy, outcome }: Frontend): string {
  switch (outcome) {
    case 'reject':
      return 'no endpoint is ready, and no terminating endpoint still serves';
    case 'drop':
      return 'the policy is Local, and no endpoint on this node is usable';
    case 'forward': {
      const count = (policy === 'Local' ? endpoints.local : endpoints.cluster)?.length ?? 0;
      const where = policy === 'Local' ? ' on this node' : '';
      return count > 0
        ? `to ${count} endpoint${count === 1 ? '' : 's'}${where}`
        : 'endpoints exist, but their hints exclude this node';
    }
  }
}

/**
 * Why a service port can never have endpoints: its slices have ports, but not this one. Undefined when one has it, or none has
 * any, as after scaling to zero.
 */
export function missingPortReason(
  { port, protocol }: PortIdentity,
  present: readonly PortIdentity[],
): string | undefined {
  if (present.length === 0 || present.some((one) => one.port === port && one.protocol === protocol))
    return undefined;
  const named = (name: string, spoken: string): string =>
    [name === '' ? 'one without a name' : name, ...(spoken === protocol ? [] : [`for ${spoken}`])].join(' ');
  const list = [...new Set(present.map((one) => named(one.port, one.protocol)))].sort().join(', ');
  const wanted = port === '' ? 'without a name' : `named ${port}`;
  const isOfOther = present.some((one) => one.port === port);
  return `no EndpointSlice has a port ${wanted}${isOfOther ? ` for ${protocol}` : ''} (they have: ${list})`;
}
