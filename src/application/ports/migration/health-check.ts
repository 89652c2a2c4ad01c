/** What whoever migrates knows of health, such as a request to a service through the node. */
export interface HealthCheck {
  /** As it was given. */
  readonly name: string;
  /**
   * One try.
   * @returns why the node is not healthy; undefined if it is
   * @throws the signal's reason when it is aborted
   */
  check(node: string, signal: AbortSignal): Promise<string | undefined>;
}
