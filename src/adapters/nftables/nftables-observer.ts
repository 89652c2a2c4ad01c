import type { IpFamily } from '../../domain/net/ip-family.js';

/** What the driver reports to metrics. Calls are cheap and never throw. */
export interface NftablesObserver {
  /** Unused chains could not be deleted; the driver retries. */
  cleanupFailed(family: IpFamily): void;
}

export const SILENT_OBSERVER: NftablesObserver = { cleanupFailed() {} };
