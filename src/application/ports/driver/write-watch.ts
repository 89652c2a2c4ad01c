/** Shows cheaply whether another program wrote. How it tells our own writes from those of others is the backend's business. */
export interface WriteWatch {
  /** Whether every write of another program is visible. If not, only the worst are, such as a flush of all rules. */
  readonly seesEveryWrite: boolean;

  /**
   * A number that stays the same until another program writes. Rules that were right in the present epoch still are.
   * Undefined if unknown. Cheap: called every second.
   */
  epoch(): Promise<number | undefined>;
}
