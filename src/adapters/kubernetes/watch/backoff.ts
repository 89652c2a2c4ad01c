import { retryDelay, type RetryTimes } from '../../../application/sync/backoff.js';

/** The longest that delays may be. Milliseconds. */
export interface BackoffTimes extends RetryTimes {
  /** After this time without a failure, the next delay is at most the initial one again. */
  readonly resetAfter: number;
}

/**
 * Delays between attempts: a random time up to a limit that doubles with every failure. All of it is random, so that the nodes
 * of a cluster that fail at the same moment come back as far apart as the limit allows.
 */
export class Backoff {
  private failures = 0;
  private lastFailure = -Infinity;

  constructor(
    private readonly times: BackoffTimes,
    private readonly random: () => number = Math.random,
  ) {}

  /** The next delay is at most the initial one. */
  reset(): void {
    this.failures = 0;
  }

  /** The delay after a failure at the time `now`, in milliseconds. */
  next(now: number): number {
    const { times } = this;
    if (now - this.lastFailure - retryDelay(this.failures, times) > times.resetAfter) this.failures = 0;
    this.lastFailure = now;
    return Math.round(retryDelay(++this.failures, times) * this.random());
  }
}
