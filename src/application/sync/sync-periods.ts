/** Times in milliseconds. */
export interface SyncPeriods {
  /** Between verifications. Also the longest wait after a failure. */
  readonly syncPeriod: number;
  /** Shortest pause between syncs. Undefined: a pause as long as the last sync took, at most LONGEST_PAUSE. */
  readonly minSyncPeriod: number | undefined;
}

const LONGEST_PAUSE = 20;

/** The pause after a sync that took so long. */
export function pauseAfter(duration: number, { minSyncPeriod }: SyncPeriods): number {
  return minSyncPeriod ?? Math.min(LONGEST_PAUSE, duration);
}
