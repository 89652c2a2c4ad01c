import type { Balancing } from '../balancing/balancing.js';
import type { Endpoint } from '../model/endpoint.js';
import type { ServicePortKey, ServicePortName, Protocol } from '../model/service-port-name.js';
import { hostPort } from '../net/address.js';
import type { Cidr } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';
import type { EndpointSelection } from '../select-endpoints.js';
import { flatText } from '../model/text.js';

/**
 * How this node forwards the traffic of one service port in one family, independent of any backend.
 * Backends compile it, plan prints it, embedders read it.
 */
export interface ForwardingEntry {
  readonly key: ServicePortKey;
  readonly name: ServicePortName;
  readonly family: IpFamily;
  /** The addresses at which the service port is served, the cluster IP first; without those that belong to another one. */
  readonly frontends: readonly Frontend[];
  /** All that its Service requests; missing if it is served at all of them. */
  readonly requested?: readonly Frontend[] | undefined;
  /** When its Service was created, in seconds since the epoch; missing if that is unknown. */
  readonly createdAt?: number;
  readonly endpoints: EndpointSelection;
  /**
   * The endpoints on any node that may keep their flows: all that serve, and all that receive new flows
   * (docs/internals/spec/conntrack.md §2).
   */
  readonly flowEligibleEndpoints: readonly Endpoint[];
  /** All endpoints on this node, in any state. */
  readonly localEndpoints: readonly Endpoint[];
  readonly internalPolicyLocal: boolean;
  readonly externalPolicyLocal: boolean;
  /** Seconds for which a client keeps its endpoint; 0 without session affinity. */
  readonly affinitySeconds: number;
  /** The scheduler that the Service requests; only IPVS mode supports it. The name has a valid form, but may be unknown. */
  readonly scheduler?: string;
  /** How endpoints are chosen, where it is not at random with equal chances. */
  readonly balancing?: Balancing | undefined;
  /** The requested choice for which there can be no tables, and the reason. Endpoints are then chosen at random. */
  readonly deniedBalancing?: DeniedBalancing | undefined;
  /** Sources that may use the load-balancer IPs; empty if all may. */
  readonly sourceRanges: readonly Cidr[];
  /** A source range covers this node, so the load-balancer IPs themselves may be the source of its own packets. */
  readonly sourceRangesCoverNode: boolean;
  /** 0 for none. */
  readonly healthCheckNodePort: number;
  /**
   * The addresses of ready endpoints on this node, each once, for the health-check node port. Missing without one
   * (docs/internals/spec/model.md §3.4).
   */
  readonly localReadyIPs?: readonly string[];
  /** Has a node port, a load-balancer IP or an external IP, even if the feature gate prevents programming it. */
  readonly externallyReachable: boolean;
  /** Unresponsive endpoints are ejected. Missing: no, as always for UDP. */
  readonly ejectsUnresponsiveEndpoints?: boolean;
  /** How many endpoints the cluster has for the service port, in any state. */
  readonly knownEndpoints: number;
  /** The Service has more endpoints than it may have, so each of its ports uses at most this number. The first port reports it. */
  readonly mostEndpoints?: number;
}

/** A choice of endpoints for which the budget of slots has no space: the Service is balanced at random instead. */
export interface DeniedBalancing {
  /** The choice that the Service requests. */
  readonly balancing: Balancing;
  /** Missing where another port of the Service has it. */
  readonly reason?: string | undefined;
}

/** The kind of address that clients use. */
export type FrontendKind = 'cluster-ip' | 'external-ip' | 'load-balancer-ip' | 'node-port';

/** The result for a new connection: an endpoint, an error, or no answer. The words of netfilter, in every view. */
export type PacketOutcome = 'forward' | 'reject' | 'drop';

/** One address and port, or one node port, of a service port. */
export interface Frontend {
  readonly kind: FrontendKind;
  /** Undefined for node ports, which use the node's own addresses. */
  readonly address?: string;
  readonly port: number;
  /** Which endpoints general clients get. Clients on this node always get Cluster from external frontends. */
  readonly policy: 'Cluster' | 'Local';
  /** For general clients. Dropped: endpoints exist, but none here. */
  readonly outcome: PacketOutcome;
}

/** The addresses that the Service requests, those that belong to another service port included. */
export function requestedFrontends({
  frontends,
  requested = frontends,
}: ForwardingEntry): readonly Frontend[] {
  return requested;
}

/** Those of them that belong to another service port. */
export function lostFrontends({ frontends, requested }: ForwardingEntry): readonly Frontend[] {
  return requested === undefined
    ? NO_FRONTENDS
    : requested.filter((frontend) => !frontends.includes(frontend));
}

const NO_FRONTENDS: readonly Frontend[] = [];

/** Whether the frontend is for clients outside the cluster: everything but the cluster IP. */
export function isExternal(frontend: Frontend): boolean {
  return frontend.kind !== 'cluster-ip';
}

/**
 * Whether pods and processes of this node are served with Cluster endpoints although the policy is Local, because
 * for them the load balancer is only a detour (docs/internals/spec/model.md §5).
 */
export function shortCircuits(entry: ForwardingEntry, frontend: Frontend): boolean {
  return isExternal(frontend) && frontend.policy === 'Local' && entry.endpoints.hasAny;
}

/** Where a frontend is, for people: `10.96.0.80:80`, `[fd00::1]:80`, or the number of a node port. */
export function frontendPlace({ address, port }: Pick<Frontend, 'address' | 'port'>): string {
  return address === undefined ? String(port) : hostPort(address, port);
}

type Index = ReadonlyMap<ServicePortKey, ForwardingEntry>;

/** Up to this number, ports are searched one by one: nearly all Services have fewer. */
const FEW = 8;

/** Of long lists, as long as these live. */
const indexes = new WeakMap<readonly ForwardingEntry[], Index>();

/** The entry of that key among those of a Service. Of many, the first search costs as much as all of them, each further one nothing. */
export function findEntry(
  entries: readonly ForwardingEntry[],
  key: ServicePortKey,
): ForwardingEntry | undefined {
  if (entries.length <= FEW) return entries.find((entry) => entry.key === key);
  let index = indexes.get(entries);
  if (!index) indexes.set(entries, (index = new Map(entries.map((entry) => [entry.key, entry]))));
  return index.get(key);
}

/** A frontend in the form that people use: `10.96.0.10:53/UDP`, `[fd00::1]:80/TCP`, or `node port 30053/UDP` without an address. */
export function frontendName(address: string | undefined, port: number, protocol: Protocol): string {
  return flatText(address === undefined ? `node port ${port}` : hostPort(address, port), '/', protocol);
}
