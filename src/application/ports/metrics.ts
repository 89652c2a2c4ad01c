import type { IpFamily } from '../../domain/net/ip-family.js';

export type TrafficPolicy = 'internal' | 'external';

/** How one sync went. */
export interface SyncOutcome {
  /** Everything was looked at, not only what changed. */
  readonly full: boolean;
  readonly seconds: number;
  readonly ok: boolean;
  /** Steps written into the kernel. */
  readonly written: number;
}

/**
 * What the proxy counts (docs/spec/server.md §10). Calls are cheap and never throw. Durations are seconds. Where kube-proxy
 * has one number for both families, so has this port.
 */
export interface Metrics {
  /** A sync was asked for, or the sync loop has started. */
  syncQueued(family: IpFamily): void;
  /** A sync was executed, well or not. Attempts before the first lists are complete do not count. */
  syncFinished(family: IpFamily, outcome: SyncOutcome): void;
  /** A verification found rules that somebody else had changed, and repaired so many steps. */
  repaired(family: IpFamily, steps: number): void;
  /** From the change of a pod (the endpoints' trigger time annotation) to the rules that follow it. Once per trigger time. */
  networkProgramming(family: IpFamily, seconds: number): void;
  /** A slice event of a served family, whether it changed anything or not. */
  endpointChange(): void;
  /** Accepted slice changes that no sync has taken up yet. */
  endpointChangesPending(count: number): void;
  /** A Service event. */
  serviceChange(): void;
  /** Services with a change that no sync has taken up yet. */
  serviceChangesPending(count: number): void;
  /** Service ports with a Local policy that have usable endpoints, but none on this node. */
  noLocalEndpoints(policy: TrafficPolicy, family: IpFamily, count: number): void;
  conntrackReconciled(
    family: IpFamily,
    outcome: { readonly seconds: number; readonly deleted: number },
  ): void;
  /** An answer of /healthz. */
  healthzAnswered(code: 200 | 503): void;
  /** An answer of /livez. */
  livezAnswered(code: 200 | 503): void;
}
