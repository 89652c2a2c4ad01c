import { retryDelay, type RetryTimes } from '../../application/sync/backoff.js';

/** Milliseconds. */
export interface BackoffTimes extends RetryTimes {
  /** After that long without a failure the next delay is the initial one again. */
  readonly resetAfter: number;
}

/** Delays between attempts, spread by up to their half so that the nodes of a cluster do not come back all at once. */
export class Backoff {
  private failures = 0;
  private lastFailure = -Infinity;

  constructor(
    private readonly times: BackoffTimes,
    private readonly random: () => number = Math.random,
  ) {}

  /** There was a success that counts: the next delay is the initial one. */
  reset(): void {
    this.failures = 0;
  }

  /** The delay after a failure at the time `now`, in milliseconds. */
  next(now: number): number {
    const { times } = this;
    if (now - this.lastFailure - retryDelay(this.failures, times) > times.resetAfter) this.failures = 0;
    this.lastFailure = now;
    return Math.round(retryDelay(++this.failures, times) * (0.5 + this.random() / 2));
  }
}
