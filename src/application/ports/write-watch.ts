/** What a write of ours did, if no other program wrote meanwhile. */
export interface WriteEffect {
  /** Transactions that the kernel counts. */
  readonly commits: number;
  /** By how many entries the tables have grown. Undefined when that is not known. */
  readonly entriesGained?: number | undefined;
  /** For how long another program held the lock before we had it, in seconds. Undefined when that is not known. */
  readonly lockWaitSeconds?: number | undefined;
}

/** Tells cheaply whether another program wrote. */
export interface WriteWatch {
  /** Whether every write of another program shows. If not, only the worst do, as when all rules are gone. */
  readonly seesEveryWrite: boolean;

  /** Runs a write of ours. `effect` is asked when it has succeeded. */
  ours<T>(write: () => Promise<T>, effect: (outcome: T) => WriteEffect): Promise<T>;

  /**
   * A number that stays the same until another program writes. Rules that were right in the present epoch still are.
   * Undefined when nothing can be told. Cheap: asked every second.
   */
  epoch(): Promise<number | undefined>;
}
