import { timeText } from '../../../domain/model/text.js';
import { displayName, servicePortName } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { counted, compactTexts } from '../../../application/words.js';
import type { ProxyHealth } from '../../../application/health/proxy-health.js';
import type { Clock } from '../../../application/ports/clock.js';
import type { ResourceKind, SourceStatus } from '../../../application/ports/cluster-source.js';
import { isAboutObject, type ObjectReports } from '../../../application/use-cases/object-reports.js';
import { type NodeState, UNEXPLAINED_RULES_KEPT } from '../../../application/status/node-state.js';
import type { ServiceVerdicts } from '../../../application/status/service-verdicts.js';
import type { FamilyStatus, ProxyStatus, WatchStatus } from './proxy-status.js';
import type { PortProblem } from '../../../application/status/port-status.js';
import type { ServiceStatuses } from '../../../application/status/service-statuses.js';
import type { SyncHistory } from '../../../application/status/sync-history.js';

/** What does not change while the program runs. */
export type ProgramFacts = Pick<ProxyStatus, 'node' | 'mode' | 'versions' | 'startTime'>;

/** The part of a sync loop that is read. */
export interface ReportedLoop {
  readonly family: IpFamily;
  readonly inSync: boolean;
  readonly pending: { readonly serviceCount: number };
  /** What could not be read or used since the start, for people. */
  readonly unreadObjects: readonly string[];
  /** The part of it that could not be read. */
  readonly unreadSources: readonly string[];
}

/** The news of the cluster, the removal of other modes' rules, and warnings about this machine. */
export interface ReportedSource {
  status(): readonly SourceStatus[];
  /** Kinds whose first list has not arrived. */
  missing(): readonly ResourceKind[];
  /** That rules of other modes are being looked for and removed. */
  removing(): string | undefined;
  /** Requested features that are not possible here. */
  warnings(): readonly string[];
  /** The rules that break forwarding. Missing: unknown. */
  causes?(): readonly string[];
}

/** How many Services with problems are named. */
const MOST_PROBLEMS = 5;

/** Use case Status: how the proxy is, in one value. Changes nothing. Costs what fails and what is ignored. */
export class ReportStatus {
  constructor(
    private readonly facts: ProgramFacts,
    private readonly loops: readonly ReportedLoop[],
    private readonly source: ReportedSource,
    private readonly node: NodeState,
    private readonly verdicts: Pick<ServiceVerdicts, 'counts' | 'problems'>,
    private readonly statuses: ServiceStatuses,
    private readonly reports: ObjectReports,
    private readonly history: SyncHistory,
    private readonly health: ProxyHealth,
    private readonly clock: Clock,
  ) {}

  status(): ProxyStatus {
    const now = this.clock.now();
    const families = this.loops.map((loop) => this.family(loop));
    const { state, reasons } = this.node.report();
    const since = this.loops.flatMap(({ family }) => this.health.waitingSince(family) ?? []);
    const removing = this.source.removing();
    const inSync = families.length > 0 && families.every((family) => family.inSync) && removing === undefined;
    return {
      state,
      reasons: [...reasons, ...(this.source.causes?.() ?? [])],
      warnings: [...this.source.warnings(), ...this.objectWarnings()],
      ...this.facts,
      time: timeText(now),
      inSync,
      lagSeconds: inSync ? 0 : (now - Math.min(now, ...since)) / 1000,
      pendingReasons: [...this.waiting(families), ...(removing === undefined ? [] : [removing])],
      families,
      serviceCounts: this.verdicts.counts(),
      serviceProblems: this.verdicts
        .problems(MOST_PROBLEMS)
        .map(({ service, verdict }) => ({ service, ...verdict })),
      ignored: this.reports.unusable,
      watches: this.watches(now),
      lastErrors: this.lastErrors(families),
    };
  }

  private family({ family, inSync, pending }: ReportedLoop): FamilyStatus {
    const waitingSince = this.health.waitingSince(family);
    return {
      family,
      inSync,
      pendingServices: pending.serviceCount,
      ...(waitingSince !== undefined && { pendingSinceTime: timeText(waitingSince) }),
      programmed: this.statuses.counts(family).programmed,
      failed: this.statuses.failures(family).map(named),
      degraded: this.statuses.degradations(family).map(named),
      sync: this.history.of(family),
    };
  }

  /** Problems of objects, with a count: their owners can fix them, and the node is none the worse. */
  private objectWarnings(): readonly string[] {
    const { ignored, partlyIgnored } = this.reports;
    const isKept = this.loops.some(
      ({ unreadObjects, unreadSources }) => unreadObjects.length > 0 && unreadSources.every(isAboutObject),
    );
    return compactTexts(
      ignored.length > 0 && counted(ignored.length, 'object is ignored', 'objects are ignored'),
      partlyIgnored > 0 &&
        counted(partlyIgnored, 'object has parts that are ignored', 'objects have parts that are ignored'),
      isKept && UNEXPLAINED_RULES_KEPT,
    );
  }

  private waiting(families: readonly FamilyStatus[]): readonly string[] {
    const missing = this.source.missing();
    if (missing.length > 0) return missing.map((kind) => `everything, for the first list of ${kind}`);
    return families.flatMap(({ family, inSync, pendingServices, sync }) => {
      if (inSync) return [];
      if (!this.health.hasStarted(family))
        return [`${family}: everything, for the Node object ${this.facts.node}`];
      const what =
        pendingServices > 0 ? counted(pendingServices, 'Service', 'Services') : 'everything that has changed';
      return [
        `${family}: ${what}, for the ${sync.failures > 0 ? 'next attempt after a failure' : 'running or next sync'}`,
      ];
    });
  }

  private watches(now: number): readonly WatchStatus[] {
    return this.source
      .status()
      .filter(({ state }) => state !== 'absent')
      .map(({ kind, state, connected, objects, lastActivity, failure }) => ({
        kind,
        state,
        connected,
        objectCount: objects,
        ...(lastActivity !== undefined && { idleSeconds: (now - lastActivity) / 1000 }),
        ...(failure !== undefined && { failure }),
      }));
  }

  private lastErrors(families: readonly FamilyStatus[]): ProxyStatus['lastErrors'] {
    return families
      .flatMap(({ family, sync, failed }) => [
        ...(sync.lastFailure
          ? [{ time: sync.lastFailure.time, message: `${family}: a sync failed: ${sync.lastFailure.reason}` }]
          : []),
        ...failed.slice(-1).map(({ servicePort, reason, sinceTime }) => ({
          time: sinceTime,
          message: `${family}: ${servicePort} failed: ${reason}`,
        })),
      ])
      .sort((one, other) => (one.time < other.time ? 1 : -1));
  }
}

/** A problem as answers have it. */
function named(problem: PortProblem): PortProblem {
  return { ...problem, servicePort: displayName(servicePortName(problem.servicePort)) };
}
