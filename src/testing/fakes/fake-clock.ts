import type { Clock, Timer } from '../../application/ports/clock.js';

interface PendingTimer {
  readonly due: number;
  readonly callback: () => void;
}

/**
 * A clock that stands still until `advance`, which fires the timers that fall due, in order of time and then of their
 * creation, including those that callbacks create; `now` is each timer's own time while its callback runs.
 */
export class FakeClock implements Clock {
  private readonly timers = new Set<PendingTimer>();
  private ahead = 0;

  /** Milliseconds since the epoch. */
  constructor(private time = 0) {}

  now(): number {
    return this.time + this.ahead;
  }

  steady(): number {
    return this.time;
  }

  /** Sets the wall clock forward, or back; timers do not notice. */
  set(milliseconds: number): void {
    this.ahead += milliseconds;
  }

  after(milliseconds: number, callback: () => void): Timer {
    const timer = { due: this.time + Math.max(0, milliseconds), callback };
    this.timers.add(timer);
    return { cancel: () => void this.timers.delete(timer) };
  }

  /** How many timers are pending: none, once everything has been stopped. */
  get pending(): number {
    return this.timers.size;
  }

  advance(milliseconds: number): void {
    const end = this.time + milliseconds;
    while (this.fireNext(end));
    this.time = end;
  }

  /** Advances, and lets promises settle after each timer, so that asynchronous work started by timers runs. */
  async advanceAsync(milliseconds: number): Promise<void> {
    const end = this.time + milliseconds;
    await settled();
    while (this.fireNext(end)) await settled();
    this.time = end;
  }

  /** Fires the timer that falls due next, if one does until then. */
  private fireNext(end: number): boolean {
    let next: PendingTimer | undefined;
    for (const timer of this.timers) {
      if (timer.due <= end && (!next || timer.due < next.due)) next = timer;
    }
    if (!next) return false;
    this.timers.delete(next);
    this.time = next.due;
    next.callback();
    return true;
  }
}

/** A turn of the event loop runs every promise callback that is ready. */
function settled(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
