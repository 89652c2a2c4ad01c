/** The time that the kernel's timers run by. */
export interface KernelTime {
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** Does something later, whatever becomes of the process that acts now. */
  after(milliseconds: number, run: () => void): unknown;
}
