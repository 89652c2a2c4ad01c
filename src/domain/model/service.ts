import type { BalancingMethod } from '../balancing/balancing.js';
import type { Address } from '../net/address.js';
import type { Cidr } from '../net/cidr.js';
import type { IpFamily } from '../net/ip-family.js';
import type { Protocol, ServiceKey } from './service-port-name.js';

/** The parts of a Service that the proxy uses: validated, canonical, both families (docs/internals/spec/model.md §2). */
export interface Service {
  readonly namespace: string;
  readonly name: string;
  readonly type: ServiceType;
  /** Seconds since the epoch; missing in most manifests. */
  readonly createdAt?: number;
  /** Per family; no entry when the Service has no cluster IP of it. */
  readonly clusterIPs: Readonly<Partial<Record<IpFamily, string>>>;
  readonly ports: readonly ServicePortSpec[];
  /** Seconds that a client stays with its endpoint; 0 without session affinity. */
  readonly affinitySeconds: number;
  /** The requested IPVS scheduler; missing means the default. */
  readonly scheduler?: string;
  /** How endpoints are chosen; missing: by the scheduler, else at random. */
  readonly balancingMethod?: BalancingMethod;
  /** Weights of endpoints by address; missing: all have the weights of their slices. */
  readonly weights?: Readonly<Record<string, number>>;
  /** Whether unresponsive endpoints are ejected; missing: as configured. */
  readonly ejectUnresponsiveEndpoints?: boolean;
  readonly externalIPs: readonly Address[];
  readonly loadBalancerIPs: readonly Address[];
  /** Empty when all sources are allowed, including when one of the ranges has length 0. */
  readonly sourceRanges: readonly Cidr[];
  /** False if the Service is not externally accessible. */
  readonly externalPolicyLocal: boolean;
  readonly internalPolicyLocal: boolean;
  /** 0 for none. */
  readonly healthCheckNodePort: number;
  /** The labels of its pods as kubectl takes them: `app=web,tier=front`. Missing: none is selected. */
  readonly selector?: string;
}

/** The types that have rules. One of a later Kubernetes counts as ClusterIP. */
export type ServiceType = 'ClusterIP' | 'NodePort' | 'LoadBalancer';

export interface ServicePortSpec {
  readonly name: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** 0 for none. */
  readonly nodePort: number;
  /** The name that the port has in the pods; missing where it is a number. */
  readonly targetName?: string;
}

/**
 * Why no node's rules contain a valid Service: its name resolves to its pods, or to another name; another proxy has it; or it
 * has no address yet.
 */
export type NotProxiedKind = 'headless' | 'external-name' | 'other-proxy' | 'no-cluster-ip';

/** After every time. */
const UNKNOWN_TIME = Number.MAX_SAFE_INTEGER;

/** Sorts Services by `Service.createdAt`, the oldest first and those without one last, then by key. */
export function byAge(
  createdAt: (service: ServiceKey) => number | undefined,
): (one: ServiceKey, other: ServiceKey) => number {
  const ageOf = (service: ServiceKey) => createdAt(service) ?? UNKNOWN_TIME;
  return (one, other) => ageOf(one) - ageOf(other) || (one < other ? -1 : 1);
}
