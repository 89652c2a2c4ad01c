import type { Clock } from '../../application/ports/clock.js';
import { delay } from './delay.js';

/**
 * How often requests may be made: `burst` at once, and `qps` a second on average (clientConnection.qps and burst). A bucket
 * holds a token for each request that may be made now, and is filled steadily up to `burst`. It may be in debt to those
 * who wait, so each is let through in the order of asking. A negative `qps` sets no limit, as in kube-proxy.
 */
export class RequestRate {
  private tokens: number;
  private filledAt: number;

  constructor(
    private readonly qps: number,
    private readonly burst: number,
    private readonly clock: Clock,
  ) {
    this.tokens = this.capacity;
    this.filledAt = clock.now();
  }

  private get capacity(): number {
    return Math.max(1, this.burst);
  }

  /** Resolves when the request may be made, or the signal is aborted. */
  async take(signal: AbortSignal): Promise<void> {
    if (this.qps <= 0) return;
    const now = this.clock.now();
    // A clock that was set back must not empty the bucket.
    const seconds = Math.max(0, now - this.filledAt) / 1000;
    this.tokens = Math.min(this.capacity, this.tokens + seconds * this.qps) - 1;
    this.filledAt = now;
    if (this.tokens < 0) await delay(this.clock, (-this.tokens / this.qps) * 1000, signal);
  }
}
