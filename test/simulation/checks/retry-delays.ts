/** Of what is tried again after a second, two, four …: the first delay, and the longest one, in seconds (docs/behavior/recovery.md). */
export const RETRY_DELAYS = { first: 1, longest: 60 } as const;

/** How long something that has failed for this time may wait until it is tried again: a second longer. Both in milliseconds. */
export function longestRetryPause(failedFor: number): number {
  return Math.min(failedFor + RETRY_DELAYS.first * 1_000, RETRY_DELAYS.longest * 1_000);
}
