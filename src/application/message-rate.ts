import type { Clock } from './ports/clock.js';

/** So many messages about one object may follow each other. */
const AT_ONCE = 5;
/** Milliseconds until one more may follow. */
const PERIOD = 60_000;
/** With more objects than this, those without a recent message are forgotten. */
const MOST_KNOWN = 1_000;

/** The messages about one object: as a moment, the time at which all of AT_ONCE may be sent again. */
interface Sent {
  readonly restedAt: number;
  /** Messages since the last one that was sent. */
  readonly suppressed: number;
}

/** Limits the rate of messages about each object, so that its owner cannot flood the log or the API server's events. */
export class MessageRate {
  private readonly sent = new Map<string, Sent>();

  constructor(private readonly clock: Pick<Clock, 'steady'>) {}

  /**
   * Counts a message about an object. Returns undefined if it may not be sent; otherwise facts for the message: how many before it
   * were not sent, if any.
   */
  admit(object: string): { readonly suppressed?: number } | undefined {
    const now = this.clock.steady();
    const { restedAt, suppressed } = this.sent.get(object) ?? { restedAt: 0, suppressed: 0 };
    const next = Math.max(now, restedAt) + PERIOD;
    const isAdmitted = next - now <= AT_ONCE * PERIOD;
    this.sent.delete(object);
    this.sent.set(
      object,
      isAdmitted ? { restedAt: next, suppressed: 0 } : { restedAt, suppressed: suppressed + 1 },
    );
    if (this.sent.size > MOST_KNOWN) this.forgetRested(now);
    if (!isAdmitted) return undefined;
    return suppressed > 0 ? { suppressed } : {};
  }

  private forgetRested(now: number): void {
    for (const [object, { restedAt }] of this.sent) if (restedAt <= now) this.sent.delete(object);
    // Objects with the oldest messages, where all have recent ones.
    for (const object of this.sent.keys()) {
      if (this.sent.size <= MOST_KNOWN) return;
      this.sent.delete(object);
    }
  }
}
