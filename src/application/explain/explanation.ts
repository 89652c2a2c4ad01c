import type { Frontend } from '../../domain/forwarding/forwarding-entry.js';
import type { Endpoint } from '../../domain/model/endpoint.js';
import type { Protocol, ServiceKey } from '../../domain/model/service-port-name.js';
import type { UnservedKind } from '../../domain/model/unserved.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { HealthCheckState } from '../health/service-health-check.js';
import type { ServiceStatus } from '../status/service-statuses.js';
import type { FamilyHistory } from '../status/sync-history.js';
import type { KernelWalk, ProbedEndpoints } from './checks/results.js';
import type { Finding } from './findings.js';

/** What the proxy does for a Service, and why. Times are milliseconds since the epoch. */
export interface Explanation {
  readonly service: ServiceKey;
  /** Whether this proxy serves such a Service. */
  readonly known: boolean;
  /** Why it does not. Missing if it does. */
  readonly unserved?: Unserved;
  /** What is wrong with the Service's objects in the cluster. */
  readonly problems: readonly string[];
  readonly families: readonly FamilyExplanation[];
  /** What packets to it meet in the kernel; missing where nobody looked. */
  readonly kernel?: KernelWalk;
  /** Missing unless it was asked for. */
  readonly probe?: ProbedEndpoints;
}

/**
 * Why the proxy does not serve a Service. `invalid`: its object breaks a rule, which `problems` name. `absent`: there is none.
 * `undelivered`: the API server did not say whether there is one of the kinds that it does not deliver.
 */
export interface Unserved {
  readonly kind: UnservedKind | 'invalid' | 'absent' | 'undelivered';
  /** For people. */
  readonly text: string;
}

export interface FamilyExplanation {
  readonly family: IpFamily;
  /** A change of it is not in the kernel yet. */
  readonly waiting: boolean;
  /** Seconds since the oldest change of the family arrived that is not in the kernel yet, while a change of it is not. */
  readonly waitingSeconds?: number;
  readonly ports: readonly PortExplanation[];
  /** Why nothing is to be programmed for it, if it has no ports here. */
  readonly absence?: Absence;
  readonly healthCheck?: HealthCheckState;
  readonly sync: FamilyHistory;
}

/** Why a Service has no service port in a family. `held-back`: its endpoints may be in what could not be read. */
export interface Absence {
  readonly kind: 'no-cluster-ip' | 'not-processed' | 'held-back';
  /** For people. */
  readonly text: string;
}

export interface PortExplanation {
  /** Empty for an unnamed port. */
  readonly port: string;
  readonly protocol: Protocol;
  readonly status: PortStatus;
  readonly frontends: readonly FrontendExplanation[];
  readonly endpoints: readonly EndpointExplanation[];
  /** What stops or limits its traffic, the most important first. */
  readonly findings: readonly Finding[];
  /** Seconds that a client stays with its endpoint; 0 without session affinity. */
  readonly affinitySeconds: number;
  /** Sources that may use the load-balancer IPs; empty when all may. */
  readonly sourceRanges: readonly string[];
}

/** The outcome of the last attempt, if there was one. */
export type PortStatus = { readonly state: 'pending' } | ServiceStatus;

export interface FrontendExplanation extends Omit<Frontend, 'outcome'> {
  /** What clients outside this node get. `lost`: it belongs to another Service, and they get what that one offers. */
  readonly outcome: Frontend['outcome'] | 'lost';
  /** Why they get that. */
  readonly reason: string;
}

export interface EndpointExplanation extends Pick<
  Endpoint,
  'address' | 'port' | 'isLocal' | 'ready' | 'serving' | 'terminating' | 'zoneHints' | 'nodeHints'
> {
  /** Whether any frontend may lead to it. */
  readonly used: boolean;
  /** Why it is not used although it is ready. */
  readonly reason?: string;
}

/** Whether traffic of the Service reaches endpoints as its objects ask for. */
export function isSound({ known, problems, families, kernel, probe }: Explanation): boolean {
  const findings = families.flatMap(({ ports }) => ports.flatMap((port) => port.findings));
  const isHeldBack = families.some(({ absence }) => absence?.kind === 'held-back');
  const isReached = !kernel?.obstacles.length && !probe?.probed.some(({ problem }) => problem !== undefined);
  return (
    isReached && known && problems.length === 0 && !isHeldBack && !findings.some(({ isFault }) => isFault)
  );
}
