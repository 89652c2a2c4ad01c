import type { Clock, Timer } from '../../application/ports/clock.js';

/** The longest delay that a Node timer can hold. */
const LONGEST = 2 ** 31 - 1;

/** The system's time. Its timers do not keep the process alive, except those without a delay. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  steady(): number {
    return performance.now();
  }

  after(milliseconds: number, callback: () => void): Timer {
    if (milliseconds <= 0) {
      // A timer takes a millisecond, and an unref'd immediate waits for the next timer.
      const turn = setImmediate(callback);
      return { cancel: () => clearImmediate(turn) };
    }
    const timer = setTimeout(callback, Math.min(milliseconds, LONGEST)).unref();
    return { cancel: () => clearTimeout(timer) };
  }
}
