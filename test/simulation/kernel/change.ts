/** What the simulated kernel tells after every change that had an effect. */
export interface Change {
  /** The number of the process that made it; 0 for another program, or time. */
  readonly process: number;
}

/** Other programs of the simulated machine, and the kernel itself. */
export const NO_PROCESS = 0;

/** The time that the kernel's timers run by. */
export interface KernelTime {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Does something later, whatever becomes of the process that acts now. */
  after(milliseconds: number, run: () => void): unknown;
}
