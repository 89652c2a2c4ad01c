import { setImmediate } from 'node:timers/promises';

/** Work is done in slices of about this length, so that nothing else waits long. */
const SLICE_MILLISECONDS = 10;

/** Lets the event loop turn each time a slice of work has been done. */
export class Turns {
  private began = performance.now();

  /** Whether others have waited long enough. */
  get due(): boolean {
    return performance.now() - this.began >= SLICE_MILLISECONDS;
  }

  /** To be called between two pieces of work; waits only when a turn is due. */
  async next(): Promise<void> {
    if (!this.due) return;
    await setImmediate();
    this.began = performance.now();
  }
}
