import type { IpFamily } from '../../domain/net/ip-family.js';

export type TrafficPolicy = 'internal' | 'external';

/** The outcome of one sync. */
export interface SyncOutcome {
  /** Everything was compared, not only what changed. */
  readonly full: boolean;
  readonly seconds: number;
  readonly ok: boolean;
  /** Steps written to the kernel. */
  readonly written: number;
}

/**
 * The proxy's metrics (docs/spec/server.md §10). Calls are cheap and never throw. Durations are seconds. Where kube-proxy has one
 * number for both families, so does this port.
 */
export interface Metrics {
  /** A sync was requested, or the sync loop has started. */
  syncQueued(family: IpFamily): void;
  /** A sync begins. */
  syncStarted(family: IpFamily): void;
  /** A sync ran, successfully or not. Attempts before the first lists are complete do not count. */
  syncFinished(family: IpFamily, outcome: SyncOutcome): void;
  /** A verification found rules that another program had changed, and wrote this many steps to repair them. */
  repaired(family: IpFamily, steps: number): void;
  /** Time from the change of a pod (the endpoints' trigger time annotation) until its rules are programmed. Once per trigger time. */
  networkProgramming(family: IpFamily, seconds: number): void;
  /** A slice event of a served family, even if it changed nothing. */
  endpointChange(): void;
  /** Accepted slice changes that no sync has processed yet. */
  endpointChangesPending(count: number): void;
  /** A Service event. */
  serviceChange(): void;
  /** Services with a change that no sync has processed yet. */
  serviceChangesPending(count: number): void;
  /** Service ports with a Local policy that have usable endpoints, but none on this node. */
  noLocalEndpoints(policy: TrafficPolicy, family: IpFamily, count: number): void;
  conntrackReconciled(
    family: IpFamily,
    outcome: { readonly seconds: number; readonly deleted: number },
  ): void;
  /** A response of /healthz. */
  healthzAnswered(code: 200 | 503): void;
  /** A response of /livez. */
  livezAnswered(code: 200 | 503): void;
}
