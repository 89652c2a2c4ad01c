import type { SyncObserver, SyncReport } from '../../src/application/ports/sync-observer.js';
import type { IpFamily } from '../../src/domain/net/ip-family.js';

/** Keeps every call. */
export class RecordingObserver implements SyncObserver {
  /** `loopStarted IPv4`, `queued IPv4`, `dequeued IPv4`, `finished IPv4`, `verified IPv4 PROBLEM`, `repaired IPv4 3`, `service true`, `slice false`. */
  readonly calls: string[] = [];
  readonly reports: SyncReport[] = [];
  /** Why the rules of a family cannot be verified, while they cannot. */
  readonly unverified = new Map<IpFamily, string>();

  take(): readonly string[] {
    return this.calls.splice(0);
  }

  loopStarted(family: IpFamily): void {
    this.calls.push(`loopStarted ${family}`);
  }

  queued(family: IpFamily): void {
    this.calls.push(`queued ${family}`);
  }

  dequeued(family: IpFamily): void {
    this.calls.push(`dequeued ${family}`);
  }

  finished(family: IpFamily, report: SyncReport): void {
    this.calls.push(`finished ${family}`);
    this.reports.push(report);
  }

  verified(family: IpFamily, problem?: string): void {
    if (problem === undefined) this.unverified.delete(family);
    else {
      this.unverified.set(family, problem);
      this.calls.push(`verified ${family} ${problem}`);
    }
  }

  repaired(family: IpFamily, steps: number): void {
    this.calls.push(`repaired ${family} ${steps}`);
  }

  serviceEvent(_: string, changed: boolean): void {
    this.calls.push(`service ${changed}`);
  }

  endpointSliceEvent(changed: boolean): void {
    this.calls.push(`slice ${changed}`);
  }
}
