/** Milliseconds. */
export interface BackoffTimes {
  readonly initial: number;
  readonly maximum: number;
  /** After that long without a failure the next delay is the initial one again. */
  readonly resetAfter: number;
}

/**
 * Delays between attempts: each is twice the one before, up to the maximum, spread by up to its half so that the nodes
 * of a cluster do not come back all at once.
 */
export class Backoff {
  private base = 0;
  private lastFailure = -Infinity;

  constructor(
    private readonly times: BackoffTimes,
    private readonly random: () => number = Math.random,
  ) {}

  /** There was a success that counts: the next delay is the initial one. */
  reset(): void {
    this.base = 0;
  }

  /** The delay after a failure at the time `now`, in milliseconds. */
  next(now: number): number {
    const { initial, maximum, resetAfter } = this.times;
    const quiet = now - this.lastFailure - this.base > resetAfter;
    this.base = quiet || this.base === 0 ? initial : Math.min(this.base * 2, maximum);
    this.lastFailure = now;
    return Math.round(this.base * (0.5 + this.random() / 2));
  }
}
