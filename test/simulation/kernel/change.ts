/** What the simulated kernel tells after every change that had an effect. */
export interface Change {
  /** The number of the process that made it; 0 for another program, or time. */
  readonly process: number;
}

/** Other programs of the simulated machine, and the kernel itself. */
export const NO_PROCESS = 0;
