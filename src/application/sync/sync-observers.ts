import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { SyncObserver, SyncReport } from '../ports/sync-observer.js';

/** Several observers as one, such as health, metrics and history. Each is told, in turn, what it wants to hear. */
export class SyncObservers implements SyncObserver {
  constructor(private readonly observers: readonly Partial<SyncObserver>[]) {}

  loopStarted(family: IpFamily): void {
    for (const observer of this.observers) observer.loopStarted?.(family);
  }

  queued(family: IpFamily): void {
    for (const observer of this.observers) observer.queued?.(family);
  }

  dequeued(family: IpFamily): void {
    for (const observer of this.observers) observer.dequeued?.(family);
  }

  finished(family: IpFamily, report: SyncReport): void {
    for (const observer of this.observers) observer.finished?.(family, report);
  }

  verified(family: IpFamily, problem?: string): void {
    for (const observer of this.observers) observer.verified?.(family, problem);
  }

  repaired(family: IpFamily, steps: number): void {
    for (const observer of this.observers) observer.repaired?.(family, steps);
  }

  serviceEvent(service: ServiceKey, changed: boolean): void {
    for (const observer of this.observers) observer.serviceEvent?.(service, changed);
  }

  endpointSliceEvent(changed: boolean): void {
    for (const observer of this.observers) observer.endpointSliceEvent?.(changed);
  }
}
