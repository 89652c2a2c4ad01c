import type { IpFamily } from '../../domain/net/ip-family.js';
import type { PendingChanges } from '../../domain/state/pending-changes.js';

/** A sync loop as use cases see it: a queue of changes, and a wake-up call. */
export interface ChangeReceiver {
  readonly family: IpFamily;
  readonly pending: PendingChanges;
  changed(): void;
}

/** The loops of the families that this node serves. */
export class FamilyLoops {
  constructor(private readonly loops: readonly ChangeReceiver[]) {}

  /** Queues a change for one family, or for all, and wakes the loop. Families that are not served are skipped. */
  note(family: IpFamily | 'all', change: (pending: PendingChanges) => void): void {
    for (const loop of this.loops) {
      if (family !== 'all' && loop.family !== family) continue;
      change(loop.pending);
      loop.changed();
    }
  }
}
