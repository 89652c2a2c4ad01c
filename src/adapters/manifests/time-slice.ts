import { setImmediate as yieldToEventLoop } from 'node:timers/promises';

/** Milliseconds of work between two turns of the event loop. */
const LENGTH = 10;

/** Lets the event loop run after each slice of a long work. */
export class TimeSlice {
  private startedAt = performance.now();

  /** Whether the event loop has waited long enough. */
  get isOver(): boolean {
    return performance.now() - this.startedAt >= LENGTH;
  }

  /** Called between two pieces of work. Waits only when the slice is over. */
  async yieldIfOver(): Promise<void> {
    if (!this.isOver) return;
    await yieldToEventLoop();
    this.startedAt = performance.now();
  }
}
