import { ApiError } from '../../client/api-error.js';
import { Backoff, type BackoffTimes } from './backoff.js';

/**
 * When a reflector asks again, so that a cluster's nodes, which all lose the same server at the same moment, do not come back
 * together. client-go waits from 0.8 to 1.6 s at first and from 30 to 60 s in the end, and as long as Retry-After says, which
 * is the same for all; a watch that a server ends while it shuts down it resumes at once.
 */
export class RetrySchedule {
  private readonly failures: Backoff;
  /** Separate, so that a new list after an outage does not wait as long as the outage made it wait. Good times between lists do not count. */
  private readonly expiries: Backoff;

  constructor(
    private readonly times: BackoffTimes,
    private readonly random: () => number = Math.random,
  ) {
    this.failures = new Backoff(times, random);
    this.expiries = new Backoff(times, random, true);
  }

  /** Milliseconds to wait after a failure at the time `now`: what the server asks for, and a back-off on top. */
  afterFailure(error: Error, now: number): number {
    const { expired = false, retryAfter = 0 } = error instanceof ApiError ? error : {};
    return retryAfter + (expired ? this.expiries : this.failures).next(now);
  }

  /** Milliseconds to wait after a watch that ended before its time, without a failure: others probably did, too. */
  afterEarlyEnd(): number {
    return Math.round(this.times.initial * this.random());
  }

  /** The server was reachable: a failure now has nothing to do with earlier ones. */
  reached(): void {
    this.failures.reset();
  }
}
