/** Retries of failed requests to the API server: when, and how they are logged. */

import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import { ApiError } from '../client/api-error.js';

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
 * When a failed request to the API server is repeated. All delays are random, so that the nodes of a cluster, which all lose the
 * same server at the same moment, do not reconnect at the same moment. client-go waits 0.8 to 1.6 s at first, 30 to 60 s in the
 * end, and exactly as long as Retry-After. It resumes a watch immediately that a server ended because it shuts down.
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

  /** Milliseconds to wait after a failure at the time `now`: the server's request, plus a back-off. */
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

/**
 * Delays between attempts: a random time, at most as long as the failures have lasted. So all clients have reconnected when
 * the duration of the outage has passed again.
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

/** Outages that are logged within a period; of more, only the number. */
const MAXIMUM_OUTAGES = 3;

/**
 * Logs outages of a retried operation: the first failure, then one failure in each period, and the recovery. An outage ends with a
 * success. An operation that fails and recovers all the time is logged at most three times in a period.
 */
export class FailureLog {
  private failures = 0;
  private since = 0;
  /** When this outage was logged last. */
  private warnedAt: number | undefined;
  /** When the outages of the last period were logged first. */
  private outages: readonly number[] = [];
  private unloggedOutages = 0;

  /** @param period milliseconds */
  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
    private readonly period: number,
  ) {}

  failed(error: Error, facts: object): void {
    const now = this.clock.now();
    if (this.failures++ === 0) this.since = now;
    const details = { ...facts, error: error.message, failures: this.failures };
    if (!this.isDue(now)) return this.logger.debug(details, 'request to the API server failed; retrying');
    const { unloggedOutages } = this;
    this.warnedAt = now;
    this.unloggedOutages = 0;
    this.logger.warn(
      { ...details, ...(unloggedOutages > 0 && { unloggedOutages }) },
      'request to the API server failed; retrying',
    );
  }

  succeeded(): void {
    const { failures } = this;
    if (this.warnedAt !== undefined) {
      const milliseconds = this.clock.now() - this.since;
      this.logger.info({ failures, milliseconds }, 'requests to the API server recovered');
    } else if (failures > 0) this.unloggedOutages++;
    this.failures = 0;
    this.warnedAt = undefined;
  }

  private isDue(now: number): boolean {
    if (this.warnedAt !== undefined) return now - this.warnedAt >= this.period;
    const recent = this.outages.filter((at) => now - at < this.period);
    if (recent.length >= MAXIMUM_OUTAGES) return false;
    this.outages = [...recent, now];
    return true;
  }
}
