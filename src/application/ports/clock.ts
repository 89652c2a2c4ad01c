/** Time, so that tests can control it. Milliseconds since the epoch; timers fire once and may be canceled. */
export interface Clock {
  now(): number;
  /** Calls back after the delay. The timer does not keep the process alive by itself. */
  after(milliseconds: number, callback: () => void): Timer;
}

/** A pending callback. */
export interface Timer {
  cancel(): void;
}
