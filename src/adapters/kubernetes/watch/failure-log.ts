import type { Clock } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';

/** Logs failures of a retried operation, at most one warning every `every` milliseconds, and the recovery. */
export class FailureLog {
  private failures = 0;
  private since = 0;
  private warnedAt = -Infinity;
  private warned = false;

  constructor(
    private readonly logger: Logger,
    private readonly clock: Clock,
    private readonly every: number,
  ) {}

  failed(error: Error, facts: object): void {
    const now = this.clock.now();
    if (this.failures++ === 0) this.since = now;
    const details = { ...facts, error: error.message, failures: this.failures };
    if (now - this.warnedAt >= this.every) {
      this.warnedAt = now;
      this.warned = true;
      this.logger.warn(details, 'request to the API server failed; retrying');
    } else {
      this.logger.debug(details, 'request to the API server failed; retrying');
    }
  }

  succeeded(): void {
    if (this.warned) {
      const milliseconds = this.clock.now() - this.since;
      this.logger.info({ failures: this.failures, milliseconds }, 'requests to the API server recovered');
    }
    this.failures = 0;
    this.warned = false;
  }
}
