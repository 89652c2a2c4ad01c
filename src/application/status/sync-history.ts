import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Clock } from '../ports/clock.js';
import type { SyncReport } from '../ports/sync-observer.js';

/** How the syncs of one family have gone. Times are milliseconds since the epoch. */
export interface FamilyHistory {
  readonly lastSuccess?: {
    readonly at: number;
    readonly seconds: number;
    readonly full: boolean;
    /** Steps written into the kernel. */
    readonly written: number;
  };
  readonly lastFailure?: { readonly at: number; readonly reason: string };
  /** Syncs that failed as a whole since the last one that succeeded. */
  readonly failures: number;
  /** Rules that somebody else had changed. */
  readonly drift: {
    /** Verifications that found some. */
    readonly found: number;
    /** Steps written to repair them. */
    readonly repaired: number;
    readonly last?: number;
  };
}

const NOTHING_YET: FamilyHistory = { failures: 0, drift: { found: 0, repaired: 0 } };

/** Remembers the last syncs and repairs of each family, for those who ask what happened. */
export class SyncHistory {
  private readonly families = new Map<IpFamily, FamilyHistory>();

  constructor(private readonly clock: Clock) {}

  of(family: IpFamily): FamilyHistory {
    return this.families.get(family) ?? NOTHING_YET;
  }

  finished(family: IpFamily, { ok, error = 'unknown', seconds, full, written }: SyncReport): void {
    const former = this.of(family);
    const at = this.clock.now();
    this.families.set(
      family,
      ok
        ? { ...former, failures: 0, lastSuccess: { at, seconds, full, written } }
        : { ...former, failures: former.failures + 1, lastFailure: { at, reason: error } },
    );
  }

  repaired(family: IpFamily, steps: number): void {
    const former = this.of(family);
    const { found, repaired } = former.drift;
    const drift = { found: found + 1, repaired: repaired + steps, last: this.clock.now() };
    this.families.set(family, { ...former, drift });
  }
}
