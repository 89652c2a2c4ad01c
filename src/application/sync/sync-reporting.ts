import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ProxyHealth } from '../health/proxy-health.js';
import type { Metrics } from '../ports/metrics.js';
import type { SyncObserver, SyncReport } from '../ports/sync-observer.js';

/** Tells health and metrics what the sync loops do. */
export class SyncReporting implements SyncObserver {
  private slicesPending = 0;
  private servicesPending = 0;

  constructor(
    private readonly health: ProxyHealth,
    private readonly metrics: Metrics,
  ) {}

  loopStarted(family: IpFamily): void {
    this.health.loopStarted(family);
    this.metrics.syncQueued(family);
  }

  queued(family: IpFamily): void {
    this.health.queued(family);
    this.metrics.syncQueued(family);
  }

  finished(family: IpFamily, report: SyncReport): void {
    this.metrics.syncFinished(family, report);
    if (!report.ok) {
      this.metrics.nftablesSyncFailed(family);
      return;
    }
    this.health.updated(family);
    for (const seconds of report.programmingLatencies) this.metrics.networkProgramming(family, seconds);
    this.metrics.noLocalEndpoints('internal', family, report.noLocalEndpoints.internal);
    this.metrics.noLocalEndpoints('external', family, report.noLocalEndpoints.external);
    this.metrics.endpointChangesPending((this.slicesPending = 0));
    this.metrics.serviceChangesPending((this.servicesPending = 0));
  }

  repaired(): void {}

  serviceEvent(changed: boolean): void {
    this.metrics.serviceChange();
    if (changed) this.metrics.serviceChangesPending(++this.servicesPending);
  }

  endpointSliceEvent(changed: boolean): void {
    this.metrics.endpointChange();
    if (changed) this.metrics.endpointChangesPending(++this.slicesPending);
  }
}
