import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ResourceKind, SourceState } from '../ports/cluster-source.js';
import type { TroubledPort } from './service-statuses.js';
import type { FamilyHistory } from './sync-history.js';

/** How the proxy of this node is, as `kubeproxy status` shows it. Times are milliseconds since the epoch. */
export interface ProxyStatus {
  /** `degraded`: it serves, but not all that it is asked to, or on old news. `not-serving`: a family was never programmed. */
  readonly state: 'good' | 'degraded' | 'not-serving';
  /** Why it is not good, the most important first. */
  readonly reasons: readonly string[];
  /** The name of the Node object. */
  readonly node: string;
  /** The mode in force. */
  readonly mode: string;
  readonly versions: Versions;
  readonly startedAt: number;
  /** When this was asked. */
  readonly now: number;
  /** Everything delivered is programmed, but for what failed. */
  readonly inSync: boolean;
  /** Seconds for which the oldest change has waited; 0 when in sync. */
  readonly lag: number;
  /** What waits, and for what; empty when in sync. */
  readonly waiting: readonly string[];
  readonly families: readonly FamilyStatus[];
  /** Objects that are ignored, with the reason. */
  readonly ignored: readonly string[];
  /** The watches at the API server; empty for other sources. */
  readonly watches: readonly WatchStatus[];
  /** The last error of each kind, the newest first; also of what works again by now. */
  readonly lastErrors: readonly { readonly at: number; readonly text: string }[];
}

export interface Versions {
  /** Of this program. */
  readonly program: string;
  /** The release of Kubernetes whose kube-proxy it stands for. */
  readonly kubernetes: string;
  readonly node: string;
  readonly kernel: string;
}

export interface FamilyStatus {
  readonly family: IpFamily;
  readonly inSync: boolean;
  /** Services that wait for the next sync. */
  readonly waiting: number;
  /** When the oldest change that is not programmed arrived. */
  readonly waitingSince?: number;
  /** Service ports. */
  readonly programmed: number;
  readonly failed: readonly TroubledPort[];
  /** Programmed, but not as their Services ask for. */
  readonly degraded: readonly TroubledPort[];
  readonly sync: FamilyHistory;
}

export interface WatchStatus {
  readonly kind: ResourceKind;
  readonly state: SourceState;
  readonly connected: boolean;
  /** Objects known. */
  readonly objects: number;
  /** Seconds since the API server last sent anything. */
  readonly silence?: number;
  /** Why the last request failed, until one succeeds. */
  readonly failure?: string;
}
