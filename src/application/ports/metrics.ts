import type { StaleReason } from '../../domain/conntrack/desired-flows.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { SyncObserver } from './sync-observer.js';

/** What became of flows that were examined. */
export interface ConntrackOutcome {
  readonly seconds: number;
  readonly deleted: number;
  readonly reasons: Readonly<Partial<Record<StaleReason, number>>>;
}

/**
 * The proxy's metrics (docs/spec/server.md §10). Calls are cheap and never throw. Durations are seconds. Where kube-proxy has one
 * number for both families, so does this port.
 */
export interface Metrics extends SyncObserver {
  /** Flows of a protocol were examined, and stale ones removed. */
  conntrackReconciled(family: IpFamily, protocol: Protocol, outcome: ConntrackOutcome): void;
  /** Established connections were removed, so that their clients are answered with a reset. */
  connectionsReset(family: IpFamily, reason: 'endpoint silent', count: number): void;
  /** Connections of endpoints that are gone were too many to be watched. */
  connectionsUnwatched(family: IpFamily, count: number): void;
  /** So many node ports are listened on, on localhost, by the proxy itself. */
  localhostListeners(family: IpFamily, count: number): void;
  /** One of them could not be listened on. */
  localhostListenerFailed(family: IpFamily): void;
  /** A response of /healthz or /livez. */
  probed(path: 'healthz' | 'livez', code: 200 | 503): void;
}
