import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { Clock } from '../ports/clock.js';
import type { SourceStatus } from '../ports/cluster-source.js';
import { staleSources, type StaleSource } from './stale-sources.js';

/** One family's state, as /healthz shows it. Times are milliseconds since the epoch. */
export interface FamilyVerdict {
  /** The end of the last successful sync; undefined before the first. */
  readonly lastUpdated: number | undefined;
  readonly healthy: boolean;
  /** Why not, when not healthy. */
  readonly reason?: string;
}

export interface HealthVerdict {
  /** Of the proxy alone; whether the node may get traffic is `nodeEligible`. */
  readonly healthy: boolean;
  readonly nodeEligible: boolean;
  readonly now: number;
  /** The latest of the families'. */
  readonly lastUpdated: number | undefined;
  readonly families: ReadonlyMap<IpFamily, FamilyVerdict>;
  /** Why not, when not healthy. */
  readonly reason?: string;
  /** What the proxy may not know of the cluster. Shown, but no ill health. */
  readonly stale: readonly StaleSource[];
}

interface FamilyState {
  lastUpdated: number | undefined;
  /** Since when something has waited for a sync. */
  oldestPending: number | undefined;
  /** Since when that has waited which a sync has taken up, until one succeeds. */
  oldestTaken: number | undefined;
}

/**
 * Whether the proxy does its work (docs/spec/server.md §8.1). Each family that is served is
 * - starting, from `loopStarted` until its first successful sync (`updated`);
 * - up to date, after `updated`, as long as nothing is wanted;
 * - pending, from the first `queued` until a sync that has `taken` it up is `updated`; healthy for the timeout, then not.
 * The proxy is healthy when every family is, and none is starting. Idle never becomes unhealthy. It is alive as long as no
 * family is overdue, the first sync included: while nothing is listed there is nothing that a restart would mend.
 *
 * kube-proxy calls itself healthy from the moment its loop starts. Here a proxy that has never synced is not: its node has
 * no rules, or those of a former life, and a load balancer that believes the check would send it traffic that goes nowhere.
 */
export class ProxyHealth {
  private readonly families = new Map<IpFamily, FamilyState>();
  private nodeEligible = false;

  /**
   * @param timeoutMilliseconds a wanted sync may take so long: twice the syncPeriod
   * @param sources how fresh what is known of the cluster is
   */
  constructor(
    private readonly clock: Clock,
    private timeoutMilliseconds: number,
    private readonly sources: () => readonly SourceStatus[] = () => [],
  ) {}

  /** From now on a wanted sync may take so long. */
  use(timeoutMilliseconds: number): void {
    this.timeoutMilliseconds = timeoutMilliseconds;
  }

  /** The sync loop of a family runs; from now on the family counts. */
  loopStarted(family: IpFamily): void {
    const state = this.families.get(family);
    if (state) state.oldestPending = state.oldestTaken = undefined;
    else
      this.families.set(family, { lastUpdated: undefined, oldestPending: undefined, oldestTaken: undefined });
  }

  /** A sync is wanted. */
  queued(family: IpFamily): void {
    const state = this.families.get(family);
    if (state) state.oldestPending ??= this.clock.now();
  }

  /** A sync has begun. */
  taken(family: IpFamily): void {
    const state = this.families.get(family);
    if (!state) return;
    state.oldestTaken ??= state.oldestPending;
    state.oldestPending = undefined;
  }

  /** A sync succeeded; what was wanted since it began goes on waiting. */
  updated(family: IpFamily): void {
    const oldestPending = this.families.get(family)?.oldestPending;
    this.families.set(family, { lastUpdated: this.clock.now(), oldestPending, oldestTaken: undefined });
  }

  /**
   * Whether load balancers may send traffic to this node (docs/spec/server.md §8.3): it has been seen, is not being deleted and
   * is not about to be removed by the autoscaler. False until told.
   */
  setNodeEligible(eligible: boolean): void {
    this.nodeEligible = eligible;
  }

  /** Whether load balancers may rely on the proxy. */
  verdict(): HealthVerdict {
    const verdict = this.verdictBy(healthOf);
    if (verdict.families.size > 0) return verdict;
    return { ...verdict, healthy: false, reason: 'the sync loop has not started' };
  }

  /** Whether the proxy should go on rather than be started anew; here `healthy` means that. */
  liveness(): HealthVerdict {
    return this.verdictBy(livenessOf);
  }

  private verdictBy(judge: Judge): HealthVerdict {
    const now = this.clock.now();
    const families = new Map<IpFamily, FamilyVerdict>();
    for (const family of IP_FAMILIES) {
      const state = this.families.get(family);
      if (state) families.set(family, judge(state, now - this.timeoutMilliseconds, now));
    }
    const verdicts = [...families];
    const times = verdicts.flatMap(([, { lastUpdated }]) => (lastUpdated === undefined ? [] : [lastUpdated]));
    const reasons = verdicts.flatMap(([family, { reason }]) => (reason ? [`${family}: ${reason}`] : []));
    return {
      healthy: reasons.length === 0,
      nodeEligible: this.nodeEligible,
      now,
      lastUpdated: times.length > 0 ? Math.max(...times) : undefined,
      families,
      ...(reasons.length > 0 && { reason: reasons.join('; ') }),
      stale: staleSources(this.sources(), now),
    };
  }
}

/** What one family's state means. Something is overdue when it has waited since `latest`, or longer. */
type Judge = (state: FamilyState, latest: number, now: number) => FamilyVerdict;

const healthOf: Judge = (state, latest, now) =>
  state.lastUpdated === undefined
    ? { lastUpdated: undefined, healthy: false, reason: 'no sync has succeeded yet' }
    : livenessOf(state, latest, now);

const livenessOf: Judge = ({ lastUpdated, oldestPending, oldestTaken }, latest, now) => {
  const since = oldestTaken ?? oldestPending;
  if (since === undefined || since > latest) return { lastUpdated, healthy: true };
  const seconds = Math.floor((now - since) / 1000);
  return { lastUpdated, healthy: false, reason: `a sync has been due for ${seconds} s` };
};
