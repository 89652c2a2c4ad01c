import type { IpFamily } from '../../domain/net/ip-family.js';
import type { SyncObserver } from './sync-observer.js';

/**
 * The proxy's metrics (docs/spec/server.md §10). Calls are cheap and never throw. Durations are seconds. Where kube-proxy has one
 * number for both families, so does this port.
 */
export interface Metrics extends SyncObserver {
  conntrackReconciled(
    family: IpFamily,
    outcome: { readonly seconds: number; readonly deleted: number },
  ): void;
  /** A response of /healthz or /livez. */
  probed(path: 'healthz' | 'livez', code: 200 | 503): void;
}
