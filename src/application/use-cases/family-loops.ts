import type { IpFamily } from '../../domain/net/ip-family.js';
import type { PendingChanges } from '../../domain/state/pending-changes.js';

/** A loop as use cases see it: a place to note changes, and a bell. */
export interface ChangeReceiver {
  readonly family: IpFamily;
  readonly pending: PendingChanges;
  changed(): void;
}

/** The loops of the families that this node serves. */
export class FamilyLoops {
  constructor(private readonly loops: readonly ChangeReceiver[]) {}

  /** Notes a change with the loop of one family, or of all, and wakes it. Families that are not served hear nothing. */
  note(family: IpFamily | 'all', change: (pending: PendingChanges) => void): void {
    for (const loop of this.loops) {
      if (family !== 'all' && loop.family !== family) continue;
      change(loop.pending);
      loop.changed();
    }
  }
}
