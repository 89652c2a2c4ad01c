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

  /** Queues a change for these families, and wakes their loops. Families that are not served are skipped. */
  note(families: readonly IpFamily[], change: (pending: PendingChanges) => void): void {
    for (const loop of this.loops) {
      if (!families.includes(loop.family)) continue;
      change(loop.pending);
      loop.changed();
    }
  }
}
