import { retryDelay, type RetryTimes } from '../../../application/sync/backoff.js';

/** Milliseconds. */
export interface BackoffTimes extends RetryTimes {
  /** After this time without a failure, the next delay is the initial one again. */
  readonly resetAfter: number;
}

/** Delays between attempts, with up to half of each random, so that the nodes of a cluster do not reconnect at the same time. */
export class Backoff {
  private failures = 0;
  private lastFailure = -Infinity;

  constructor(
    private readonly times: BackoffTimes,
    private readonly random: () => number = Math.random,
  ) {}

  /** The next delay is the initial one. */
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
