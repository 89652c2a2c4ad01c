import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import { serviceOf, type ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Clock } from '../ports/clock.js';
import type { SyncReport } from '../ports/sync-observer.js';
import type { ProgrammedChanges } from '../sync/change-log.js';
import type { ChangeEntry, FamilyChange, History, ServicePortChange } from './change-entry.js';
import { endpointsChange, frontendsChange } from './list-changes.js';
import type { ServiceStatuses } from './service-statuses.js';

/** How many changes are remembered. */
const CAPACITY = 1000;

/** Remembers the last changes of all families: small values in a ring, so that what changed can be told afterwards. */
export class ChangeHistory {
  private readonly ring: ChangeEntry[] = [];
  private count = 0;

  constructor(
    private readonly statuses: ServiceStatuses,
    private readonly clock: Clock,
  ) {}

  /** The service ports that a sync programmed, or could not. When all were due, only failures are told one by one. */
  programmed({
    family,
    changed,
    everyService,
    failed,
    written,
    ms,
    sinceEvent,
    triggers,
  }: ProgrammedChanges): void {
    const failures = new Set(failed);
    const at = this.clock.now();
    if (everyService) this.add({ what: 'everything-programmed', family, at, steps: written, took: ms });
    for (const change of changed) {
      if (everyService && !failures.has(change.key)) continue;
      const times = triggers.size > 0 ? triggers.get(serviceOf(change.key)) : undefined;
      this.add({
        what: 'service-port',
        family,
        at,
        steps: written,
        servicePort: change.key,
        ...this.result(family, change, failures.has(change.key)),
        event: at - sinceEvent,
        ...(times?.[0] !== undefined && { trigger: times[0] }),
        took: sinceEvent,
        endpoints: endpointsChange(change.former?.endpoints.reachable, change.entry?.endpoints.reachable),
        frontends: frontendsChange(change.former?.frontends, change.entry?.frontends),
      });
    }
  }

  /** A whole sync. Only what concerns everything is remembered. */
  finished(family: IpFamily, { ok, error = 'unknown', full, seconds, written }: SyncReport): void {
    if (ok && !full) return;
    const what: FamilyChange['what'] = ok ? 'everything-programmed' : 'sync-failed';
    this.add({
      what,
      family,
      at: this.clock.now(),
      steps: written,
      took: Math.round(seconds * 1000),
      ...(!ok && { reason: error }),
    });
  }

  /** Rules that another program had changed were repaired. */
  repaired(family: IpFamily, steps: number): void {
    this.add({ what: 'repaired', family, at: this.clock.now(), steps });
  }

  /** What is remembered, the oldest first: all, or what concerned one Service alone. */
  changes(service?: ServiceKey): History {
    const oldest = this.count % CAPACITY;
    const all =
      this.count < CAPACITY ? this.ring : [...this.ring.slice(oldest), ...this.ring.slice(0, oldest)];
    const concerns = (entry: ChangeEntry): boolean =>
      entry.what === 'service-port' && serviceOf(entry.servicePort) === service;
    return { changes: service === undefined ? [...all] : all.filter(concerns), total: this.count };
  }

  private result(
    family: IpFamily,
    { key, entry }: ForwardingChange,
    hasFailed: boolean,
  ): Pick<ServicePortChange, 'result' | 'reason'> {
    if (!hasFailed) return { result: entry ? 'programmed' : 'removed' };
    const status = this.statuses.get(family, key);
    return { result: 'failed', ...(status?.state === 'failed' && { reason: status.reason }) };
  }

  private add(entry: ChangeEntry): void {
    this.ring[this.count++ % CAPACITY] = entry;
  }
}
