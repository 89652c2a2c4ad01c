import type { Endpoint } from '../model/endpoint.js';
import type { ServicePortKey } from '../model/service-port-name.js';

/** How the endpoint of a new connection is chosen: the values of `kube-proxy-ts/load-balancing` (docs/configuration/load-balancing.md). */
export const BALANCING_METHODS = [
  'random',
  'round-robin',
  'least-connections',
  'maglev',
  'maglev-source',
] as const;

/**
 * - `random`: by chance.
 * - `round-robin`: one after another.
 * - `least-connections`: by chance; endpoints with fewer open connections from this node have greater chances.
 * - `maglev`: by a hash of the client's address and port, the same on all nodes.
 * - `maglev-source`: by a hash of the client's address alone.
 */
export type BalancingMethod = (typeof BALANCING_METHODS)[number];

/** Where endpoints do not have equal chances. */
export interface Balancing {
  readonly method: BalancingMethod;
  /** A list that the service port chooses from is weighted. */
  readonly isWeighted: boolean;
  /** The ports of the Service whose tables of slots this one shares. Missing: it has its own. */
  readonly tables?: TableOwners;
}

/** For each list of endpoints, the first port of the Service by key that has the same. */
export interface TableOwners {
  readonly cluster: ServicePortKey;
  readonly local: ServicePortKey;
}

/** The most that `kube-proxy-ts/weight` may be. */
export const MAX_WEIGHT = 1000;

/**
 * An endpoint's part of the new connections, as compared with others of its list; 1 by default. In a list whose endpoints all
 * have weight 0, all count alike; in others there is none of weight 0.
 */
export function weightOf({ weight = 1 }: Pick<Endpoint, 'weight'>): number {
  return weight === 0 ? 1 : weight;
}

/** Its part of the next connections, as compared with others of its list: by open connections if these count, else by weight. */
export function effectiveWeightOf(endpoint: Pick<Endpoint, 'effectiveWeight' | 'weight'>): number {
  return endpoint.effectiveWeight ?? weightOf(endpoint);
}

/** Whether the endpoints of a list have different weights. */
export function isWeightedList(list: readonly Endpoint[]): boolean {
  const [first] = list;
  return first !== undefined && list.some((endpoint) => weightOf(endpoint) !== weightOf(first));
}

/** Whether the choice is by a hash of the client. */
export function isHashed(method: BalancingMethod): boolean {
  return method === 'maglev' || method === 'maglev-source';
}

const BY_SCHEDULER: Readonly<Record<string, BalancingMethod>> = {
  random: 'random',
  rr: 'round-robin',
  wrr: 'round-robin',
  lc: 'least-connections',
  wlc: 'least-connections',
  sed: 'least-connections',
  nq: 'least-connections',
  mh: 'maglev',
  sh: 'maglev-source',
};

/** The method of other modes for an IPVS scheduler; undefined for one that no method is like. */
export function methodOfScheduler(scheduler: string): BalancingMethod | undefined {
  return Object.hasOwn(BY_SCHEDULER, scheduler) ? BY_SCHEDULER[scheduler] : undefined;
}

/** The choice that a Service requests. */
interface RequestedChoice {
  readonly balancing?: Balancing | undefined;
  /** A choice for which there can be no tables, and the reason. */
  readonly deniedBalancing?: { readonly reason?: string | undefined } | undefined;
  /** An IPVS scheduler. */
  readonly scheduler?: string;
  /** Above 0: clients keep their endpoints. */
  readonly affinitySeconds?: number;
}

/**
 * The choice of a mode that differs from the requested one, for people; undefined if there is no difference.
 * @param methods those that the mode has besides random choice
 */
export function balancingNote(
  { balancing, deniedBalancing, scheduler, affinitySeconds = 0 }: RequestedChoice,
  mode: string,
  methods: readonly BalancingMethod[],
): string | undefined {
  if (deniedBalancing?.reason !== undefined)
    return `no tables for load balancing: ${deniedBalancing.reason}; its Service's endpoints are chosen at random, with equal chances`;
  const { method = 'random', isWeighted = false } = balancing ?? {};
  const instead = `endpoints are chosen at random${isWeighted ? ', by their weights' : ''}`;
  if (method === 'least-connections' && affinitySeconds > 0)
    return `session affinity excludes least-connections; ${instead}`;
  if (method !== 'random')
    return methods.includes(method) ? undefined : `${mode} mode does not support ${method}; ${instead}`;
  if (scheduler === undefined || scheduler === 'random') return undefined;
  return `${mode} mode has no scheduler ${scheduler}; ${instead}`;
}
