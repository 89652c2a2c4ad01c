import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ProxyHealth } from '../health/proxy-health.js';
import { isAboutObject, type ObjectReports } from '../use-cases/object-reports.js';
import { compactTexts, conflictCountText, counted } from '../words.js';
import { isNodeProblem, type PortProblem } from './port-status.js';
import type { ServiceStatuses } from './service-statuses.js';
import type { FamilyHistory, SyncHistory } from './sync-history.js';

/** `not-serving`: a family was never programmed. `degraded`: the proxy or the kernel of this node has a problem. From the best. */
export const NODE_STATES = ['ok', 'degraded', 'not-serving'] as const;

/** The state of a node, and its problems as texts. */
export interface NodeReport {
  readonly state: (typeof NODE_STATES)[number];
  /** Empty for `ok`. */
  readonly reasons: readonly string[];
}

/** The parts of a proxy that its node's state depends on. */
export interface NodeSources {
  readonly loops: readonly {
    readonly family: IpFamily;
    /** What could not be read since the start. */
    readonly unreadSources: readonly string[];
    /** Why rules that no service port has could not be deleted. */
    readonly failedDeletes: readonly string[];
  }[];
  readonly statuses: ServiceStatuses;
  readonly reports: ObjectReports;
  readonly history: SyncHistory;
  readonly health: ProxyHealth;
  /** Kernel settings that stop traffic. */
  obstacles(): readonly string[];
  /** Why an edit of the configuration file is not in effect. */
  rejectedConfiguration(): string | undefined;
  /** Why packets may still reach rules of other modes. */
  remainingRules(): readonly string[];
}

/** The state of this node: of the proxy and the kernel alone. A mistake in an object never changes it. Costs what fails. */
export class NodeState {
  constructor(private readonly sources: NodeSources) {}

  report(): NodeReport {
    const { loops, history } = this.sources;
    const reasons = [...loops.flatMap(({ family }) => this.familyReasons(family)), ...this.nodeReasons()];
    const isServing =
      loops.length > 0 && loops.every(({ family }) => history.of(family).lastSuccess !== undefined);
    return { state: !isServing ? 'not-serving' : reasons.length > 0 ? 'degraded' : 'ok', reasons };
  }

  private familyReasons(family: IpFamily): readonly string[] {
    const { history, health, statuses } = this.sources;
    const sync = history.of(family);
    const reason = health.verdict().families.get(family)?.reason;
    return compactTexts(
      sync.lastSuccess === undefined && `${family} was never programmed`,
      sync.failures > 0 && `${family}: ${failedSyncs(sync)}`,
      sync.unverified && `${family}: the rules cannot be verified: ${sync.unverified.reason}`,
      sync.lastSuccess && sync.failures === 0 && reason && `${family}: ${reason}`,
      ...portProblemTexts(family, statuses),
    );
  }

  private nodeReasons(): readonly string[] {
    const { loops, reports, health } = this.sources;
    const unreadable = reports.unusable.length - reports.ignored.length;
    const rejected = this.sources.rejectedConfiguration();
    return [
      ...loops.flatMap(({ family, failedDeletes }) => {
        const [first] = failedDeletes;
        const count = counted(failedDeletes.length, 'pending deletion');
        return first === undefined ? [] : [`${family}: ${count} of rules that no Service has: ${first}`];
      }),
      ...compactTexts(
        unreadable > 0 && counted(unreadable, 'object cannot be read', 'objects cannot be read'),
        loops.some(({ unreadSources }) => !unreadSources.every(isAboutObject)) && UNEXPLAINED_RULES_KEPT,
        ...health.verdict().stale.map(({ kind, reason }) => `${kind}: ${reason}`),
        ...this.sources.obstacles(),
        rejected !== undefined && `the edited configuration is not in effect: ${rejected}`,
        ...this.sources.remainingRules(),
      ),
    ];
  }
}

export const UNEXPLAINED_RULES_KEPT =
  'rules that no object explains are kept until everything has been readable once';

/** How many of the service ports of a family failed or are degraded because of this node. */
function portProblemTexts(
  family: IpFamily,
  statuses: Pick<ServiceStatuses, 'failures' | 'degradations'>,
): readonly string[] {
  const failed = statuses.failures(family).filter((port) => isNodeProblem('failed', port)).length;
  const degraded = statuses.degradations(family).filter((port) => isNodeProblem('degraded', port));
  const conflicts = degraded.reduce((sum, { conflicts: lost = [] }: PortProblem) => sum + lost.length, 0);
  return compactTexts(
    failed > 0 && `${family}: ${counted(failed, 'service port fails', 'service ports fail')}`,
    degraded.length > 0 &&
      `${family}: ${counted(degraded.length, 'service port is degraded', 'service ports are degraded')}${conflictCountText(conflicts)}`,
  );
}

function failedSyncs({ failures, lastFailure }: FamilyHistory): string {
  const syncs = failures === 1 ? 'the last sync' : `the last ${failures} syncs`;
  return `${syncs} failed: ${lastFailure?.reason ?? 'unknown'}`;
}
