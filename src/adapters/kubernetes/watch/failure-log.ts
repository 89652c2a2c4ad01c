import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';

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
