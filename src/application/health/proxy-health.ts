/** The health of the proxy, and reports of it to the service manager. */

import { IP_FAMILIES, type IpFamily } from '../../domain/net/ip-family.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { SourceStatus, ResourceKind } from '../ports/cluster-source.js';
import type { ServiceManager } from '../ports/health.js';
import type { SyncObserver, SyncReport } from '../ports/sync-observer.js';

/** One family's state, as /healthz shows it. Times are milliseconds since the epoch. */
interface FamilyVerdict {
  /** The end of the last successful sync; undefined before the first. */
  readonly lastUpdated: number | undefined;
  readonly healthy: boolean;
  /** Why not, when not healthy. */
  readonly reason?: string;
}

export interface HealthVerdict {
  /** Of the proxy alone; `nodeEligible` is whether the node may receive traffic. */
  readonly healthy: boolean;
  readonly nodeEligible: boolean;
  readonly now: number;
  /** The latest of the families'. */
  readonly lastUpdated: number | undefined;
  readonly families: ReadonlyMap<IpFamily, FamilyVerdict>;
  /** Why not, when not healthy. */
  readonly reason?: string;
  /** Kinds whose news may be missing. Shown, but not unhealthy. */
  readonly stale: readonly StaleSource[];
}

/** A kind whose news may be missing, and why. */
interface StaleSource {
  readonly kind: ResourceKind;
  readonly reason: string;
}

interface FamilyState {
  lastUpdated?: number | undefined;
  /** When the oldest change was queued that no sync has dequeued. */
  oldestPending?: number | undefined;
  /** When the oldest change was queued that a sync has dequeued, until one succeeds. */
  oldestDequeued?: number | undefined;
}

/**
 * Whether the proxy works (docs/internals/spec/server.md §8.1). Each served family is
 * - starting, from `loopStarted` until its first successful sync (`finished`);
 * - in sync, after that, while nothing is queued;
 * - pending, from the first `queued` until a sync that `dequeued` it succeeds; healthy until the timeout, then not.
 * The proxy is healthy when every family is, none is starting, and no check of forwarding has found a fault. An idle proxy never becomes
 * unhealthy. It is alive as long as no family is overdue, the first sync included: until the lists arrive, a restart would not help.
 *
 * kube-proxy reports healthy as soon as its loop starts. Here a proxy that has never synced is unhealthy: its node has no
 * rules, or those of an earlier process, and a load balancer would send it traffic that goes nowhere.
 */
export class ProxyHealth implements Partial<SyncObserver> {
  private readonly families = new Map<IpFamily, FamilyState>();
  private readonly forwardingFaults = new Map<IpFamily, string>();
  private nodeEligible = false;

  /**
   * @param timeoutMilliseconds for a queued change to be synced: twice the syncPeriod
   * @param sources how fresh each kind is
   */
  constructor(
    private readonly clock: Clock,
    private timeoutMilliseconds: number,
    private readonly sources: () => readonly SourceStatus[] = () => [],
  ) {}

  /** Changes the timeout for queued changes. */
  use(timeoutMilliseconds: number): void {
    this.timeoutMilliseconds = timeoutMilliseconds;
  }

  /** The sync loop of a family runs; the family counts from now on. */
  loopStarted(family: IpFamily): void {
    this.families.set(family, { lastUpdated: this.families.get(family)?.lastUpdated });
  }

  /** A change was queued. */
  queued(family: IpFamily): void {
    const state = this.families.get(family);
    if (state) state.oldestPending ??= this.clock.now();
  }

  /** A sync has dequeued all changes. */
  dequeued(family: IpFamily): void {
    const state = this.families.get(family);
    if (!state) return;
    state.oldestDequeued ??= state.oldestPending;
    state.oldestPending = undefined;
  }

  /** A sync ended. If it succeeded, only what was queued since it began keeps waiting. */
  finished(family: IpFamily, { ok }: Pick<SyncReport, 'ok'>): void {
    if (!ok) return;
    const oldestPending = this.families.get(family)?.oldestPending;
    this.families.set(family, { lastUpdated: this.clock.now(), oldestPending });
  }

  /**
   * Sets whether load balancers may send traffic to this node (docs/internals/spec/server.md §8.3): its Node exists, is not being
   * deleted, and the autoscaler is not about to remove it. False at first.
   */
  setNodeEligible(eligible: boolean): void {
    this.nodeEligible = eligible;
  }

  /** Sets why packets to Services are not forwarded although the rules are programmed; undefined: they are, or nothing is known. */
  setForwardingFault(family: IpFamily, fault: string | undefined): void {
    if (fault === undefined) this.forwardingFaults.delete(family);
    else this.forwardingFaults.set(family, fault);
  }

  forwardingFault(family: IpFamily): string | undefined {
    return this.forwardingFaults.get(family);
  }

  /** Whether the sync loop of the family runs. */
  hasStarted(family: IpFamily): boolean {
    return this.families.has(family);
  }

  /** When the oldest change arrived that is not programmed; undefined if all are. Milliseconds since the epoch. */
  waitingSince(family: IpFamily): number | undefined {
    const state = this.families.get(family);
    return state?.oldestDequeued ?? state?.oldestPending;
  }

  /** Whether load balancers may rely on the proxy. */
  verdict(): HealthVerdict {
    const verdict = this.verdictBy((state, latest, now, family) => {
      const reason = this.forwardingFaults.get(family);
      const ofSyncs = healthOf(state, latest, now, family);
      return ofSyncs.healthy && reason !== undefined ? { ...ofSyncs, healthy: false, reason } : ofSyncs;
    });
    if (verdict.families.size > 0) return verdict;
    return { ...verdict, healthy: false, reason: 'the sync loop has not started' };
  }

  /** Whether the proxy should keep running; `healthy` is false when a restart may help. */
  liveness(): HealthVerdict {
    return this.verdictBy(livenessOf);
  }

  private verdictBy(judge: Judge): HealthVerdict {
    const now = this.clock.now();
    const families = new Map<IpFamily, FamilyVerdict>();
    for (const family of IP_FAMILIES) {
      const state = this.families.get(family);
      if (state) families.set(family, judge(state, now - this.timeoutMilliseconds, now, family));
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

/** Judges one family. A change is overdue when it was queued at `latest` or earlier. */
type Judge = (state: FamilyState, latest: number, now: number, family: IpFamily) => FamilyVerdict;

const healthOf: Judge = (state, ...times) =>
  state.lastUpdated === undefined
    ? { lastUpdated: undefined, healthy: false, reason: 'no sync has succeeded yet' }
    : livenessOf(state, ...times);

const livenessOf: Judge = ({ lastUpdated, oldestPending, oldestDequeued }, latest, now) => {
  const since = oldestDequeued ?? oldestPending;
  if (since === undefined || since > latest) return { lastUpdated, healthy: true };
  const seconds = Math.floor((now - since) / 1000);
  return { lastUpdated, healthy: false, reason: `a sync has been due for ${seconds} s` };
};

/** An API server sends a bookmark about once a minute, so an open watch that is silent for this long hangs. Milliseconds. */
const LONGEST_SILENCE = 180_000;
/** Time without a watch. Restarts of an API server take less. Milliseconds. */
const LONGEST_GAP = 60_000;

/**
 * The kinds of which the proxy may not have the current state. Stale data does not make it unhealthy: what is programmed keeps
 * working, a restart would not help, and during an outage of the API server every node is in the same state.
 */
export function staleSources(statuses: readonly SourceStatus[], now: number): readonly StaleSource[] {
  return statuses.flatMap((status) => {
    const reason = reasonOf(status, now);
    return reason === undefined ? [] : [{ kind: status.kind, reason }];
  });
}

function reasonOf(
  { state, synced, connected, lastActivity, failure }: SourceStatus,
  now: number,
): string | undefined {
  if (state === 'absent' || state === 'stopped') return undefined;
  const because = failure === undefined ? '' : `: ${failure}`;
  if (!synced) return `not listed yet${because}`;
  const silence = now - (lastActivity ?? -Infinity);
  if (silence < (connected ? LONGEST_SILENCE : LONGEST_GAP)) return undefined;
  const seconds = Math.floor(silence / 1000);
  return connected ? `the watch has been idle for ${seconds} s` : `no watch for ${seconds} s${because}`;
}

/** How often health is checked until everything has been programmed, in milliseconds. */
const UNTIL_READY = 250;

/**
 * Reports the proxy's health to the service manager.
 * - starting, until every family is healthy for the first time: the status names the reason;
 * - serving, from then on, even if unhealthy: the service is ready once. At twice the rate that the watchdog requires, the
 *   process is reported alive, unless a sync is overdue; without reports it is restarted.
 */
export class Supervision {
  private timer: Timer | undefined;
  private isServing = false;
  private lastStatus: string | undefined;

  constructor(
    private readonly manager: ServiceManager,
    private readonly health: ProxyHealth,
    private readonly clock: Clock,
  ) {}

  start(): void {
    this.check();
  }

  /** Idempotent. */
  stop(): void {
    this.timer?.cancel();
    this.manager.stopping();
  }

  private check(): void {
    const { healthy, reason = 'starting' } = this.health.verdict();
    if (healthy && !this.isServing) {
      this.isServing = true;
      this.manager.ready();
    }
    this.reportStatus(healthy ? 'everything is programmed' : reason);
    if (this.health.liveness().healthy) this.manager.alive();
    const { watchdogMilliseconds } = this.manager;
    const pause = watchdogMilliseconds === undefined ? undefined : watchdogMilliseconds / 2;
    const next = this.isServing ? pause : Math.min(UNTIL_READY, pause ?? UNTIL_READY);
    if (next !== undefined) this.timer = this.clock.after(next, () => this.check());
  }

  private reportStatus(text: string): void {
    if (text === this.lastStatus) return;
    this.lastStatus = text;
    this.manager.status(text);
  }
}
