import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingChange, ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { serviceOf, type ServicePortKey } from '../../domain/model/service-port-name.js';
import { timeText } from '../../domain/model/text.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { cutText } from '../cut-text.js';
import { MessageRate } from '../message-rate.js';
import type { ApplyResult, ServiceFailure } from '../ports/backend.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import { degradedStatus, Deviations } from '../status/deviations.js';
import type { ProgrammedStatus } from '../status/port-status.js';
import type { ServiceStatuses } from '../status/service-statuses.js';
import { retryDelayAmongChanges } from '../retries.js';

/** The most service ports of one failed sync that get a line each at debug level; the verdict on their Service is logged besides. */
const MOST_LOGGED = 10;

/** Records what became of each service port of a family that the backend was to program: in the statuses, and in the log. */
export class ServicePortOutcomes {
  private readonly deviations: Deviations;
  private readonly rate: MessageRate;

  constructor(
    private readonly family: IpFamily,
    private readonly table: Pick<ForwardingTable, 'entry' | 'ownerOf' | 'reservedFor'>,
    private readonly statuses: ServiceStatuses,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.rate = new MessageRate(clock, logger);
    this.deviations = new Deviations(table);
  }

  /** How many times in a row the service port failed; undefined if it does not fail. */
  attempts(key: ServicePortKey): number | undefined {
    const status = this.statuses.get(this.family, key);
    return status?.state === 'failed' ? status.attempts : undefined;
  }

  /** `ServiceFailure.limitedBy`, while it fails. */
  limitOf(key: ServicePortKey): ServiceFailure['limitedBy'] {
    const status = this.statuses.get(this.family, key);
    return status?.state === 'failed' ? status.limitedBy : undefined;
  }

  record(changed: readonly ForwardingChange[], { failed, notes = [] }: ApplyResult): void {
    const since = this.now();
    // One object for all that are programmed as requested, to save memory: that is most of them.
    const plain: ProgrammedStatus = { state: 'programmed', sinceTime: since };
    if (this.deviations.isEmpty && failed.length === 0 && notes.length === 0) {
      for (const { key, entry } of changed) this.succeeded(key, entry, plain);
      return;
    }
    const reasons = new Map(failed.map((failure) => [failure.key, failure]));
    this.deviations.update(
      changed.flatMap(({ key }) => (reasons.has(key) ? [] : key)),
      notes,
    );
    for (const { key, entry } of [...changed, ...this.alsoFailed(changed, failed)]) {
      const failure = reasons.get(key);
      if (failure === undefined) this.succeeded(key, entry, plain);
      else this.failed(failure, since);
    }
    this.logFailures(failed);
  }

  /** Something that a service port needs besides its rules is not there, which makes it degraded; undefined: it is there. */
  setMissing(key: ServicePortKey, problem: string | undefined): void {
    this.deviations.setMissing(key, problem);
    const status = this.statuses.get(this.family, key);
    if (status && status.state !== 'failed')
      this.recordProgrammed(key, this.table.entry(key), { state: 'programmed', sinceTime: this.now() });
  }

  /** Service ports that failed without being among the changes, as in a repair. */
  private alsoFailed(
    changed: readonly ForwardingChange[],
    failed: readonly ServiceFailure[],
  ): readonly ForwardingChange[] {
    if (failed.length === 0) return [];
    const known = new Set(changed.map(({ key }) => key));
    return failed
      .filter(({ key }) => !known.has(key))
      .map(({ key }) => ({ key, entry: this.table.entry(key) }));
  }

  private failed({ key, reason, waits, limitedBy }: ServiceFailure, now: string): void {
    const { family } = this;
    const previous = this.statuses.get(family, key);
    const { sinceTime, attempts } = previous?.state === 'failed' ? previous : { sinceTime: now, attempts: 0 };
    const times = attempts + (waits ? 0 : 1);
    const status = { state: 'failed', sinceTime, reason, attempts: times } as const;
    this.statuses.set(family, key, limitedBy ? { ...status, limitedBy } : status);
  }

  private logFailures(failed: readonly ServiceFailure[]): void {
    const { family } = this;
    for (const { key, reason } of failed.slice(0, MOST_LOGGED))
      this.log(
        'debug',
        key,
        { reason: cutText(reason), attempts: this.attempts(key) },
        'cannot program the service port; it keeps its rules in the kernel',
      );
    const more = failed.length - MOST_LOGGED;
    if (more > 0)
      this.logger.debug(
        { family, more, waiting: failed.filter(({ waits }) => waits).length },
        'cannot program more service ports; `kubeproxy services --problems` lists all',
      );
  }

  private succeeded(key: ServicePortKey, entry: ForwardingEntry | undefined, plain: ProgrammedStatus): void {
    const { family } = this;
    if (!entry) return this.statuses.remove(family, key);
    if (this.attempts(key) !== undefined) this.log('info', key, {}, 'service port programmed');
    this.recordProgrammed(key, entry, plain);
  }

  private recordProgrammed(
    key: ServicePortKey,
    entry: ForwardingEntry | undefined,
    plain: ProgrammedStatus,
  ): void {
    const { family } = this;
    const deviation = this.deviations.of(key, entry);
    if (!deviation) return this.statuses.set(family, key, plain);
    const former = this.statuses.get(family, key);
    const since = former?.state === 'degraded' ? former.sinceTime : this.now();
    const degraded = degradedStatus(since, deviation);
    const isNews = former?.state !== 'degraded' || former.reason !== degraded.reason;
    this.statuses.set(family, key, degraded);
    if (isNews) this.log('debug', key, { reason: cutText(degraded.reason) }, 'the service port is degraded');
  }

  /** Not too often for one Service. */
  private log(level: 'debug' | 'info', key: ServicePortKey, facts: object, message: string): void {
    const suppressed = this.rate.admit(serviceOf(key));
    if (suppressed)
      this.logger[level]({ family: this.family, service: key, ...facts, ...suppressed }, message);
  }

  private now(): string {
    return timeText(this.clock.now());
  }
}

/** Milliseconds. */
const LONG = 10_000;
/** Retries that are due within this time follow immediately: the ports of a Service fail shortly after each other. */
const TOGETHER = 20;

interface Failing {
  readonly since: number;
  /** When it is due; Infinity while it is being tried. */
  readonly at: number;
  readonly timer: Timer;
}

/** Schedules retries of service ports that failed alone: each after its own back-off. */
export class ServicePortRetries {
  /** By service port, also some that do not fail any more. */
  private readonly failing = new Map<ServicePortKey, Failing>();

  constructor(
    private readonly clock: Clock,
    private readonly outcomes: Pick<ServicePortOutcomes, 'attempts' | 'limitOf'>,
    private readonly retry: (key: ServicePortKey) => void,
  ) {}

  /** @param key has just failed. What its mode never serves is not tried again. */
  later(key: ServicePortKey): void {
    if (this.outcomes.limitOf(key) === 'mode') return;
    const attempts = this.outcomes.attempts(key)!;
    const now = this.clock.steady();
    const former = this.failing.get(key);
    former?.timer.cancel();
    const since = attempts > 1 && former ? former.since : now;
    const delay = retryDelayAmongChanges(attempts, now - since);
    this.failing.set(key, { since, at: now + delay, timer: this.clock.after(delay, () => this.due(key)) });
  }

  /** Those that the kernel has rejected for less than ten seconds. */
  recent(): readonly ServicePortKey[] {
    const start = this.clock.steady() - LONG;
    const isRejected = (key: ServicePortKey): boolean =>
      this.fails(key) && this.outcomes.limitOf(key) === undefined;
    return [...this.failing].flatMap(([key, { since }]) => (since > start && isRejected(key) ? key : []));
  }

  stop(): void {
    for (const { timer } of this.failing.values()) timer.cancel();
    this.failing.clear();
  }

  /** In one sync with all that is due just then, or the next sync would repeat what this one is about to try. */
  private due(key: ServicePortKey): void {
    const last = this.clock.steady() + TOGETHER;
    for (const [other, failing] of this.failing) {
      if (other !== key && failing.at > last) continue;
      failing.timer.cancel();
      this.failing.set(other, { ...failing, at: Infinity });
      // An update may have fixed it, or it may be gone.
      if (this.fails(other)) this.retry(other);
      else this.failing.delete(other);
    }
  }

  private fails(key: ServicePortKey): boolean {
    return this.outcomes.attempts(key) !== undefined;
  }
}
