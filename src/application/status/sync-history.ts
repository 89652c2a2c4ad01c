import type { IpFamily } from '../../domain/net/ip-family.js';
import { roundedSeconds, timeText } from '../../domain/model/text.js';
import { fields, flag, number, optional, text, time } from '../../domain/shape.js';
import type { Clock } from '../ports/clock.js';
import type { SyncObserver, SyncReport } from '../ports/sync-observer.js';

/** The last syncs of one family. */
export type FamilyHistory = ReturnType<typeof familyHistory>;
export const familyHistory = fields({
  /** `full`: of everything. `writtenSteps`: written into the kernel. */
  lastSuccess: optional(fields({ time, durationSeconds: number, full: flag, writtenSteps: number })),
  lastFailure: optional(fields({ time, reason: text })),
  /** Syncs that failed as a whole since the last one that succeeded. */
  failures: number,
  /** Since when the rules cannot be verified, and why not; missing while they can. */
  unverified: optional(fields({ sinceTime: time, reason: text })),
  /** Rules that another program had changed: how many verifications found such, and the steps written to repair them. */
  drift: fields({ repairs: number, writtenSteps: number, lastTime: optional(time) }),
});

const NOTHING_YET: FamilyHistory = {
  lastSuccess: undefined,
  lastFailure: undefined,
  failures: 0,
  drift: { repairs: 0, writtenSteps: 0 },
};

/** Remembers the last syncs and repairs of each family, for reports. */
export class SyncHistory implements Partial<SyncObserver> {
  private readonly families = new Map<IpFamily, FamilyHistory>();

  constructor(private readonly clock: Clock) {}

  of(family: IpFamily): FamilyHistory {
    return this.families.get(family) ?? NOTHING_YET;
  }

  finished(family: IpFamily, { ok, error = 'unknown', seconds, full, written }: SyncReport): void {
    const previous = this.of(family);
    const time = this.now();
    const durationSeconds = roundedSeconds(seconds);
    this.families.set(family, {
      ...previous,
      ...(ok
        ? { lastSuccess: { time, durationSeconds, full, writtenSteps: written }, failures: 0 }
        : { lastFailure: { time, reason: error }, failures: previous.failures + 1 }),
    });
  }

  /** A verification ended; with a problem, it failed. */
  verified(family: IpFamily, problem?: string): void {
    const previous = this.of(family);
    if (problem === undefined && previous.unverified === undefined) return;
    const sinceTime = previous.unverified?.sinceTime ?? this.now();
    const unverified = problem === undefined ? undefined : { sinceTime, reason: problem };
    this.families.set(family, { ...previous, unverified });
  }

  repaired(family: IpFamily, steps: number): void {
    const previous = this.of(family);
    const { repairs, writtenSteps } = previous.drift;
    const drift = { repairs: repairs + 1, writtenSteps: writtenSteps + steps, lastTime: this.now() };
    this.families.set(family, { ...previous, drift });
  }

  private now(): string {
    return timeText(this.clock.now());
  }
}
