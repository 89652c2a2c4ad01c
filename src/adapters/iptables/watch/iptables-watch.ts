import type { WriteWatch } from '../../../application/ports/driver/write-watch.js';

/** What shows that a restore was our own. */
export interface RestoreEffect {
  /** With iptables-nft, the generations of nf_tables that it made. */
  readonly generations?: readonly number[] | undefined;
  /** By how many entries the tables have grown. Undefined if unknown. */
  readonly entriesGained?: number | undefined;
  /** How long another program held the lock before we got it, in seconds. Undefined if unknown. */
  readonly lockWaitSeconds?: number | undefined;
}

/** Shows whether another program wrote to the tables of a family. */
export interface IptablesWatch extends WriteWatch {
  /** Runs a write of our own. `effect` is called if it succeeds. */
  ours<T>(write: () => Promise<T>, effect: (outcome: T) => RestoreEffect): Promise<T>;
}
