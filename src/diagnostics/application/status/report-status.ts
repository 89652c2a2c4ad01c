import { timeText } from '../../../domain/model/text.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { counted, compactTexts, conflictCountText } from '../../../application/words.js';
import type { ProxyHealth } from '../../../application/health/proxy-health.js';
import type { Clock } from '../../../application/ports/clock.js';
import type { ResourceKind, SourceStatus } from '../../../application/ports/cluster-source.js';
import { isAboutObject, type ObjectReports } from '../../../application/use-cases/object-reports.js';
import { isNodeProblem, type PortProblem } from '../../../application/status/port-status.js';
import type { FamilyStatus, ProxyStatus, WatchStatus } from './proxy-status.js';
import type { ServiceStatuses } from '../../../application/status/service-statuses.js';
import type { FamilyHistory, SyncHistory } from '../../../application/status/sync-history.js';

/** What does not change while the program runs. */
export type ProgramFacts = Pick<ProxyStatus, 'node' | 'mode' | 'versions' | 'startedAt'>;

/** The part of a sync loop that is read. */
export interface ReportedLoop {
  readonly family: IpFamily;
  readonly inSync: boolean;
  readonly pending: { readonly serviceCount: number };
  /** What could not be read or used since the start, for people. */
  readonly unreadObjects: readonly string[];
  /** The part of it that could not be read. */
  readonly unreadSources: readonly string[];
  /** Why something stays that no service port has, and that may serve. */
  readonly failedDeletes: readonly string[];
}

/** What is known besides how syncs went: of the news of the cluster, of the configuration, of other modes, and of this machine. */
export interface ReportedSource {
  status(): readonly SourceStatus[];
  /** Kinds whose first list has not arrived. */
  missing(): readonly ResourceKind[];
  /** Why an edit of the configuration file is not in force. */
  refusedConfiguration(): string | undefined;
  /** Which settings of the kernel stop traffic. */
  obstacles(): readonly string[];
  /** Why packets may still meet rules of other modes. */
  remainingRules(): readonly string[];
  /** That rules of other modes are being looked for and removed. */
  removing(): string | undefined;
  /** What cannot be done here although it is asked for. */
  warnings(): readonly string[];
}

/** Use case Status: how the proxy is, in one value. Changes nothing. Costs what fails and what is ignored. */
export class ReportStatus {
  constructor(
    private readonly facts: ProgramFacts,
    private readonly loops: readonly ReportedLoop[],
    private readonly source: ReportedSource,
    private readonly statuses: ServiceStatuses,
    private readonly reports: ObjectReports,
    private readonly history: SyncHistory,
    private readonly health: ProxyHealth,
    private readonly clock: Clock,
  ) {}

  status(): ProxyStatus {
    const now = this.clock.now();
    const families = this.loops.map((loop) => this.family(loop));
    const reasons = this.reasons(families);
    const isServing = families.length > 0 && families.every(({ sync }) => sync.lastSuccess !== undefined);
    const since = this.loops.flatMap(({ family }) => this.health.waitingSince(family) ?? []);
    const removing = this.source.removing();
    const inSync = families.length > 0 && families.every((family) => family.inSync) && removing === undefined;
    return {
      state: !isServing ? 'not-serving' : reasons.length > 0 ? 'degraded' : 'good',
      reasons,
      warnings: [...this.source.warnings(), ...this.objectWarnings(families)],
      ...this.facts,
      now: timeText(now),
      inSync,
      lag: inSync ? 0 : (now - Math.min(now, ...since)) / 1000,
      waiting: [...this.waiting(families), ...(removing === undefined ? [] : [removing])],
      families,
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
      waiting: pending.serviceCount,
      ...(waitingSince !== undefined && { waitingSince: timeText(waitingSince) }),
      programmed: this.statuses.counts(family).programmed,
      failed: this.statuses.failures(family),
      degraded: this.statuses.degradations(family),
      sync: this.history.of(family),
    };
  }

  private reasons(families: readonly FamilyStatus[]): readonly string[] {
    const { families: verdicts, stale } = this.health.verdict();
    const unreadable = this.reports.unusable.length - this.reports.ignored.length;
    const refused = this.source.refusedConfiguration();
    return [
      ...families.flatMap(({ family, sync, failed, degraded }) => {
        const reason = verdicts.get(family)?.reason;
        return compactTexts(
          sync.lastSuccess === undefined && `${family} was never programmed`,
          sync.failures > 0 && `${family}: ${failedSyncs(sync)}`,
          sync.unverified && `${family}: the rules cannot be verified: ${sync.unverified.reason}`,
          sync.lastSuccess && sync.failures === 0 && reason && `${family}: ${reason}`,
          ...portTexts(family, failed, degraded, isNodeProblem),
        );
      }),
      ...this.loops.flatMap(({ family, failedDeletes }) => {
        const [first] = failedDeletes;
        const count = counted(failedDeletes.length, 'pending deletion');
        return first === undefined ? [] : [`${family}: ${count} of rules that no Service has: ${first}`];
      }),
      ...compactTexts(
        unreadable > 0 && counted(unreadable, 'object cannot be read', 'objects cannot be read'),
        this.loops.some(({ unreadSources }) => !unreadSources.every(isAboutObject)) && KEPT,
        ...stale.map(({ kind, reason }) => `${kind}: ${reason}`),
        ...this.source.obstacles(),
        refused !== undefined && `the edited configuration is not in force: ${refused}`,
        ...this.source.remainingRules(),
      ),
    ];
  }

  /** Problems of objects, with a count: their owners can fix them, and the node is none the worse. */
  private objectWarnings(families: readonly FamilyStatus[]): readonly string[] {
    const { ignored, partlyIgnored } = this.reports;
    const isKept = this.loops.some(
      ({ unreadObjects, unreadSources }) => unreadObjects.length > 0 && unreadSources.every(isAboutObject),
    );
    return [
      ...families.flatMap(({ family, failed, degraded }) =>
        portTexts(family, failed, degraded, (...port) => !isNodeProblem(...port)),
      ),
      ...compactTexts(
        ignored.length > 0 && counted(ignored.length, 'object is ignored', 'objects are ignored'),
        partlyIgnored > 0 &&
          counted(partlyIgnored, 'object has parts that are ignored', 'objects have parts that are ignored'),
        isKept && KEPT,
      ),
    ];
  }

  private waiting(families: readonly FamilyStatus[]): readonly string[] {
    const missing = this.source.missing();
    if (missing.length > 0) return missing.map((kind) => `everything, for the first list of ${kind}`);
    return families.flatMap(({ family, inSync, waiting, sync }) => {
      if (inSync) return [];
      if (!this.health.hasStarted(family))
        return [`${family}: everything, for the Node object ${this.facts.node}`];
      const what = waiting > 0 ? counted(waiting, 'Service', 'Services') : 'everything that has changed';
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
        objects,
        ...(lastActivity !== undefined && { silence: (now - lastActivity) / 1000 }),
        ...(failure !== undefined && { failure }),
      }));
  }

  private lastErrors(families: readonly FamilyStatus[]): ProxyStatus['lastErrors'] {
    return families
      .flatMap(({ family, sync, failed }) => [
        ...(sync.lastFailure
          ? [{ at: sync.lastFailure.at, text: `${family}: a sync failed: ${sync.lastFailure.reason}` }]
          : []),
        ...failed
          .slice(-1)
          .map(({ key, reason, since }) => ({ at: since, text: `${family}: ${key} failed: ${reason}` })),
      ])
      .sort((one, other) => (one.at < other.at ? 1 : -1));
  }
}

const KEPT = 'rules that no object explains are kept until everything has been readable once';

/** How many of the service ports that meet the condition fail, and how many are degraded. */
function portTexts(
  family: IpFamily,
  failed: readonly PortProblem[],
  degraded: readonly PortProblem[],
  isMeant: typeof isNodeProblem,
): readonly string[] {
  const failing = failed.filter((port) => isMeant('failed', port)).length;
  const deviating = degraded.filter((port) => isMeant('degraded', port));
  return compactTexts(
    failing > 0 && `${family}: ${counted(failing, 'service port fails', 'service ports fail')}`,
    deviating.length > 0 &&
      `${family}: ${counted(deviating.length, 'service port is degraded', 'service ports are degraded')}${conflictCountText(heldIn(deviating))}`,
  );
}

function heldIn(ports: readonly PortProblem[]): number {
  return ports.reduce((sum, { held = [] }) => sum + held.length, 0);
}

function failedSyncs({ failures, lastFailure }: FamilyHistory): string {
  const what = failures === 1 ? 'the last sync' : `the last ${failures} syncs`;
  return `${what} failed: ${lastFailure?.reason ?? 'unknown'}`;
}
