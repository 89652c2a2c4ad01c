import {
  ApiConnectionError,
  ApiError,
  retryAfterOf,
} from '../../../src/adapters/kubernetes/client/api-error.js';
import { defaultReflectorTimings } from '../../../src/adapters/kubernetes/watch/reflector.js';
import { RetrySchedule } from '../../../src/adapters/kubernetes/watch/retries.js';

/** When a client of a simulated server asks again. All in milliseconds. */
export interface ClientRetries {
  /** All watches ended because their server is gone. */
  cutOff(now: number): number;
  /** No server answers. */
  down(now: number): number;
  /** The server has no history back to the client's version. */
  expired(now: number): number;
  /** The server answered 429 and asks for so many seconds. */
  refused(now: number, retryAfter: number): number;
  /** A watch runs. */
  succeeded(): void;
}

const DOWN = new ApiConnectionError('GET /', 'refused');
const EXPIRED = new ApiError('GET /', 410, 'Expired', '');

/** As this proxy: its own code. */
export class OwnRetries implements ClientRetries {
  private readonly schedule: RetrySchedule;

  constructor(random: () => number) {
    this.schedule = new RetrySchedule(defaultReflectorTimings.backoff, random);
  }

  cutOff(now: number): number {
    return this.down(now);
  }

  down(now: number): number {
    return this.schedule.afterFailure(DOWN, now);
  }

  expired(now: number): number {
    return this.schedule.afterFailure(EXPIRED, now);
  }

  refused(now: number, seconds: number): number {
    const error = new ApiError('GET /', 429, 'TooManyRequests', '', retryAfterOf(seconds));
    return this.schedule.afterFailure(error, now);
  }

  succeeded(): void {
    this.schedule.reached();
  }
}

/**
 * As client-go's reflector and REST client, and with them kube-proxy: a watch that broke is opened again at once; after a failure
 * it waits for a time that doubles from 0.8 to 30 s, and at random up to as long again; a request that is answered with
 * Retry-After is sent up to ten times more, after exactly that time.
 */
export class ClientGoRetries implements ClientRetries {
  private failures = 0;
  private lastFailure = -Infinity;
  private resent = 0;

  constructor(private readonly random: () => number) {}

  cutOff(): number {
    return 0;
  }

  down(now: number): number {
    if (now - this.lastFailure > 120_000) this.failures = 0;
    this.lastFailure = now;
    this.resent = 0;
    return Math.round(Math.min(30_000, 800 * 2 ** this.failures++) * (1 + this.random()));
  }

  expired(now: number): number {
    return this.down(now);
  }

  refused(now: number, retryAfter: number): number {
    return this.resent++ < 10 ? retryAfter * 1000 : this.down(now);
  }

  succeeded(): void {}
}
