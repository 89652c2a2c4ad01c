import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ProxyHealth } from '../health/proxy-health.js';
import type { Metrics } from '../ports/metrics.js';
import type { ChangeHistory } from '../status/change-history.js';
import type { SyncHistory } from '../status/sync-history.js';
import type { SyncObserver, SyncReport } from '../ports/sync-observer.js';

/** Reports what the sync loops do to health and metrics, and keeps it for later queries. */
export class SyncReporting implements SyncObserver {
  private slicesPending = 0;
  private readonly servicesPending = new Set<ServiceKey>();

  constructor(
    private readonly health: ProxyHealth,
    private readonly metrics: Metrics,
    private readonly history: SyncHistory,
    private readonly changes: ChangeHistory,
  ) {}

  loopStarted(family: IpFamily): void {
    this.health.loopStarted(family);
    this.metrics.syncQueued(family);
  }

  queued(family: IpFamily): void {
    this.health.queued(family);
    this.metrics.syncQueued(family);
  }

  dequeued(family: IpFamily): void {
    this.health.dequeued(family);
    this.metrics.syncStarted(family);
    this.slicesPending = 0;
    this.servicesPending.clear();
    this.metrics.endpointChangesPending(0);
    this.metrics.serviceChangesPending(0);
  }

  finished(family: IpFamily, report: SyncReport): void {
    this.metrics.syncFinished(family, report);
    this.history.finished(family, report);
    this.changes.finished(family, report);
    if (!report.ok) return;
    this.health.updated(family);
    for (const seconds of report.programmingLatencies) this.metrics.networkProgramming(family, seconds);
    this.metrics.noLocalEndpoints('internal', family, report.noLocalEndpoints.internal);
    this.metrics.noLocalEndpoints('external', family, report.noLocalEndpoints.external);
  }

  verified(family: IpFamily, problem?: string): void {
    this.history.verified(family, problem);
  }

  repaired(family: IpFamily, steps: number): void {
    this.metrics.repaired(family, steps);
    this.history.repaired(family, steps);
    this.changes.repaired(family, steps);
  }

  serviceEvent(service: ServiceKey, changed: boolean): void {
    this.metrics.serviceChange();
    if (!changed) return;
    this.servicesPending.add(service);
    this.metrics.serviceChangesPending(this.servicesPending.size);
  }

  endpointSliceEvent(changed: boolean): void {
    this.metrics.endpointChange();
    if (changed) this.metrics.endpointChangesPending(++this.slicesPending);
  }
}
