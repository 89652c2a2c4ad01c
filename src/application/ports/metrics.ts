import type { StaleReason } from '../../domain/conntrack/desired-flows.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { SyncObserver } from './sync-observer.js';

/** The result of examining flows. */
export interface ConntrackOutcome {
  readonly seconds: number;
  readonly deleted: number;
  readonly reasons: Readonly<Partial<Record<StaleReason, number>>>;
}

/**
 * The proxy's metrics (docs/internals/spec/server.md §10). Calls are cheap and never throw. Durations are in seconds. A metric that has
 * one value for both families in kube-proxy has one here.
 */
export interface Metrics extends SyncObserver {
  /** Flows of a protocol were examined, and stale ones removed. */
  conntrackReconciled(family: IpFamily, protocol: Protocol, outcome: ConntrackOutcome): void;
  /** Established connections to removed, unresponsive endpoints were deleted, so that their clients get a reset. */
  connectionsReset(family: IpFamily, count: number): void;
  /** Connections to removed endpoints that are not monitored because the limit is reached. */
  connectionsUnwatched(family: IpFamily, count: number): void;
  /** The number of node ports on which the proxy itself listens on localhost. */
  localhostListeners(family: IpFamily, count: number): void;
  /** The proxy could not listen on one of them. */
  localhostListenerFailed(family: IpFamily): void;
  /** A response of /healthz or /livez. */
  probed(path: 'healthz' | 'livez', code: 200 | 503): void;
}
