/** The effect of our own write, if no other program wrote meanwhile. */
export interface WriteEffect {
  /** The numbers that the kernel gave its transactions, where it reports them. One that changed nothing gets none. */
  readonly generations?: readonly number[] | undefined;
  /** By how many entries the tables have grown. Undefined if unknown. */
  readonly entriesGained?: number | undefined;
  /** How long another program held the lock before we got it, in seconds. Undefined if unknown. */
  readonly lockWaitSeconds?: number | undefined;
}

/** Shows cheaply whether another program wrote. */
export interface WriteWatch {
  /** Whether every write of another program is visible. If not, only the worst are, such as a flush of all rules. */
  readonly seesEveryWrite: boolean;

  /** Runs a write of our own. `effect` is called if it succeeds. */
  ours<T>(write: () => Promise<T>, effect: (outcome: T) => WriteEffect): Promise<T>;

  /**
   * A number that stays the same until another program writes. Rules that were right in the present epoch still are.
   * Undefined if unknown. Cheap: called every second.
   */
  epoch(): Promise<number | undefined>;
}
