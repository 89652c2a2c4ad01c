import type { ForwardingChange } from '../../domain/forwarding/forwarding-table.js';
import {
  displayName,
  parseDisplayName,
  serviceOf,
  servicePortName,
  type ServiceKey,
} from '../../domain/model/service-port-name.js';
import { roundedSeconds, timeText } from '../../domain/model/text.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Clock } from '../ports/clock.js';
import type { SyncObserver, SyncReport } from '../ports/sync-observer.js';
import type { ChangeEntry, History, ServicePortChange } from './change-entry.js';
import { ejectedChange, endpointsChange, frontendsChange } from './list-changes.js';
import type { ServiceStatuses } from './service-statuses.js';

/** How many changes are remembered. */
const CAPACITY = 1000;

/** Which changes are requested; of all fields, the changes that pass all. */
export interface HistoryFilter {
  /** What concerned these Services alone; empty for all. */
  readonly services?: readonly ServiceKey[];
  /** Missing: of all namespaces. */
  readonly namespace?: string | undefined;
  /** How far back, in milliseconds. */
  readonly since?: number | undefined;
  /** At most this number, the newest. */
  readonly limit?: number | undefined;
}

type Outcome = Pick<ServicePortChange, 'result' | 'reason'>;

const PROGRAMMED: Outcome = { result: 'programmed' };
const REMOVED: Outcome = { result: 'removed' };

/** The last changes of all families: small values in a ring buffer. */
export class ChangeHistory implements Partial<SyncObserver> {
  private readonly ring: ChangeEntry[] = [];
  private count = 0;
  /** Why the last sync of a family failed, until one succeeds. */
  private readonly failures = new Map<IpFamily, string>();

  constructor(
    private readonly statuses: ServiceStatuses,
    private readonly clock: Clock,
  ) {}

  /** A sync. Of failures as a whole in a row, only the first for each reason is remembered. */
  finished(family: IpFamily, report: SyncReport): void {
    const { ok, error = 'unknown', full, seconds, written } = report;
    const isRepeated = !ok && this.failures.get(family) === error;
    if (ok) this.failures.delete(family);
    else this.failures.set(family, error);
    if (ok && !full) return this.programmed(family, report);
    if (isRepeated) return;
    this.add({
      kind: ok ? 'everything-programmed' : 'sync-failed',
      family,
      time: timeText(this.clock.now()),
      writtenSteps: written,
      durationSeconds: roundedSeconds(seconds),
      ...(!ok && { reason: error }),
    });
  }

  /** Rules that another program had changed were repaired. */
  repaired(family: IpFamily, steps: number): void {
    this.add({ kind: 'repaired', family, time: timeText(this.clock.now()), writtenSteps: steps });
  }

  /** All changes since the start. */
  get total(): number {
    return this.count;
  }

  /** What is remembered, the oldest first. */
  changes({ services = [], namespace, since, limit }: HistoryFilter = {}): History {
    const oldest = this.count % CAPACITY;
    const all =
      this.count < CAPACITY ? this.ring : [...this.ring.slice(oldest), ...this.ring.slice(0, oldest)];
    const isOfService = (entry: ChangeEntry): boolean =>
      entry.kind === 'service-port' &&
      (services.length === 0 || services.includes(parseDisplayName(entry.servicePort).service)) &&
      (namespace === undefined || entry.servicePort.startsWith(`${namespace}/`));
    const earliest = since === undefined ? '' : timeText(this.clock.now() - since);
    const isAll = services.length === 0 && namespace === undefined;
    const changes = all.filter((entry) => entry.time >= earliest && (isAll || isOfService(entry)));
    return { changes: limit === undefined ? changes : changes.slice(-limit), total: this.count };
  }

  /** The service ports that a sync programmed, or could not. When all were due, only failures are listed one by one. */
  private programmed(family: IpFamily, report: SyncReport): void {
    const { changed, everyService, failed, written, triggers } = report;
    const sinceEvent = roundedSeconds(report.sinceEventSeconds);
    const failures = new Set(failed.map(({ key }) => key));
    const now = this.clock.now();
    const time = timeText(now);
    const eventTime = timeText(now - Math.round(sinceEvent * 1000));
    if (everyService)
      this.add({
        kind: 'everything-programmed',
        family,
        time,
        writtenSteps: written,
        durationSeconds: roundedSeconds(report.seconds),
      });
    for (const change of changed) {
      const hasFailed = failures.has(change.key);
      if (everyService && !hasFailed) continue;
      const outcome = hasFailed ? this.failure(family, change) : this.success(family, change);
      if (!outcome) continue;
      const times = triggers.size > 0 ? triggers.get(serviceOf(change.key)) : undefined;
      this.add({
        kind: 'service-port',
        family,
        time,
        writtenSteps: written,
        servicePort: displayName(servicePortName(change.key)),
        ...outcome,
        eventTime,
        ...(times?.[0] !== undefined && { triggerTime: timeText(times[0]) }),
        durationSeconds: sinceEvent,
        endpointChange: endpointsChange(
          change.former?.endpoints.reachable,
          change.entry?.endpoints.reachable,
        ),
        ...ejectedChange(change),
        frontendChange: frontendsChange(change.former?.frontends, change.entry?.frontends),
      });
    }
  }

  private success(family: IpFamily, { key, entry }: ForwardingChange): Outcome {
    if (!entry) return REMOVED;
    const status = this.statuses.get(family, key);
    return status?.state === 'degraded' ? { result: 'degraded', reason: status.reason } : PROGRAMMED;
  }

  /** Undefined if a retry failed as the attempt before: that would soon fill the ring. */
  private failure(family: IpFamily, { key, entry, former }: ForwardingChange): Outcome | undefined {
    const status = this.statuses.get(family, key);
    if (status?.state !== 'failed') return { result: 'failed' };
    const { attempts, reason } = status;
    const isAsBefore =
      attempts > 1 && entry?.endpoints.reachable.length === former?.endpoints.reachable.length;
    return isAsBefore ? undefined : { result: 'failed', reason };
  }

  private add(entry: ChangeEntry): void {
    this.ring[this.count++ % CAPACITY] = entry;
  }
}
