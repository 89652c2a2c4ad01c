import type { Clock, Timer } from '../../application/ports/clock.js';

/** The longest delay that a Node timer can hold. */
const LONGEST = 2 ** 31 - 1;

/** The machine's time. Its timers do not keep the process alive. */
export class SystemClock implements Clock {
  now(): number {
    return Date.now();
  }

  after(milliseconds: number, callback: () => void): Timer {
    const timer = setTimeout(callback, Math.min(milliseconds, LONGEST)).unref();
    return { cancel: () => clearTimeout(timer) };
  }
}
