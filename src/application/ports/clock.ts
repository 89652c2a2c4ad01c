/** Time, so that tests can control it. In milliseconds; timers fire once and may be canceled. */
export interface Clock {
  /** The wall clock, since the epoch, for times that are shown or sent. It may be set forward and back. */
  now(): number;
  /** Monotonic, from an arbitrary start. For pauses and periods. */
  steady(): number;
  /** Calls back after the delay. The timer does not keep the process alive by itself. */
  after(milliseconds: number, callback: () => void): Timer;
}

/** A pending callback. */
export interface Timer {
  cancel(): void;
}
