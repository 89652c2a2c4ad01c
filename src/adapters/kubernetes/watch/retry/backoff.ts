/** Milliseconds. */
export interface BackoffTimes {
  /** The longest delay after the first failure. */
  readonly initial: number;
  /** The longest of all. */
  readonly maximum: number;
  /** After this time without a failure, the next one is a first one. */
  readonly resetAfter: number;
}

/**
 * Delays between attempts: a random time, up to as long as the failures have lasted. So everyone is back at the latest when
 * an outage's length has passed again after it; and since all of a delay is random, the nodes of a cluster that failed at the
 * same moment come back as far apart as that allows.
 */
export class Backoff {
  private since: number | undefined;
  /** When the attempt after the last failure came. */
  private retriedAt = 0;

  /** @param onlyWaits failures last as long as was waited because of them: in between all is well */
  constructor(
    private readonly times: BackoffTimes,
    private readonly random: () => number = Math.random,
    private readonly onlyWaits = false,
  ) {}

  /** The next failure is a first one. */
  reset(): void {
    this.since = undefined;
  }

  /** The delay after a failure at the time `now`, in milliseconds. */
  next(now: number): number {
    const { initial, maximum, resetAfter } = this.times;
    if (this.since === undefined || now - this.retriedAt > resetAfter) this.since = now;
    else if (this.onlyWaits) this.since += now - this.retriedAt;
    const limit = Math.min(maximum, Math.max(initial, now - this.since));
    const delay = Math.round(limit * this.random());
    this.retriedAt = now + delay;
    return delay;
  }
}
