/** Something that runs until it is stopped: the two ends of its life, under one name. */
export interface Part {
  /** As an operator knows it: `metrics server`. */
  readonly name: string;
  /**
   * Resolves when it runs. Missing: it is running when it is registered, or starts by itself.
   * @param signal aborted when everything has to stop, during the start or later
   * @throws when it cannot run; the proxy then does not start
   */
  start?(signal: AbortSignal): Promise<void> | void;
  /** Idempotent. Called once `start` was called, even if that failed or has not resolved. Missing: it ends by itself. */
  stop?(): Promise<void> | void;
}
