import type { Clock } from '../../../application/ports/clock.js';
import { delay } from '../../../application/delay.js';

/**
 * Limits the rate of requests: `burst` at once, and `qps` per second on average (clientConnection.qps and burst). A token
 * bucket refills steadily up to `burst`. Waiting requests put it into debt, so they proceed in order. A negative `qps` means
 * no limit, as in kube-proxy.
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

  /** Resolves when the request may be sent, or the signal is aborted. */
  async take(signal: AbortSignal): Promise<void> {
    if (this.qps <= 0) return;
    const now = this.clock.now();
    // A clock that was set back must not drain the bucket.
    const seconds = Math.max(0, now - this.filledAt) / 1000;
    this.tokens = Math.min(this.capacity, this.tokens + seconds * this.qps) - 1;
    this.filledAt = now;
    if (this.tokens < 0) await delay(this.clock, (-this.tokens / this.qps) * 1000, signal);
  }
}
