import type { IpFamily } from '../../domain/net/ip-family.js';

/** What the driver reports to metrics. Calls are cheap and never throw. */
export interface NftablesObserver {
  /** Chains that are not used any more could not be deleted; they are tried again. */
  cleanupFailed(family: IpFamily): void;
}

export const SILENT_OBSERVER: NftablesObserver = { cleanupFailed() {} };
