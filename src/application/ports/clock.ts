/** Time, so that tests can own it. Milliseconds since the epoch; timers fire once and may be cancelled. */
export interface Clock {
  now(): number;
  /** Calls back after the delay. The timer does not keep the process alive by itself. */
  after(milliseconds: number, callback: () => void): Timer;
}

/** Something that is going to happen, unless it is cancelled. */
export interface Timer {
  cancel(): void;
}
