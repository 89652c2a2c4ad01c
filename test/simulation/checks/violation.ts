/** A promise that the program has not kept. */
export interface Violation {
  /** Which promise, in a word or two; a schedule that is shrunk must still break the same one. */
  readonly promise: string;
  /** What was seen. */
  readonly detail: string;
  /** Milliseconds after the world began. */
  readonly at: number;
}
