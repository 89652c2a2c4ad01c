import { LastingProblem } from '../message-rate.js';
import type { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { serviceOf, type ServiceKey, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import { PendingChanges, type DequeuedChanges } from '../../domain/state/pending-changes.js';
import { errorMessage } from '../error-message.js';
import { NOTHING_APPLIED, type Backend } from '../ports/backend.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { ProgrammedChanges, SyncObserver, SyncReport } from '../ports/sync-observer.js';
import { retryDelayAmongChanges } from '../retries.js';
import { ServicePortRetries } from './service-port-outcomes.js';
import { Comparison, Verifier, type VerifierTurns } from './verifier.js';
import type { Sync } from '../use-cases/sync.js';

/**
 * Decides when one family is synced, and does one thing at a time.
 *
 * It waits until Services and EndpointSlices have been listed: nothing is written before. Then it runs the first sync and is idle. A change
 * wakes it: a sync is due immediately if the pause after the last one is over, otherwise it is scheduled for the end of the pause, and
 * everything that arrives meanwhile goes into the same sync. A sync that failed as a whole keeps its changes and is repeated after a
 * back-off, sooner if another change comes. Service ports that failed alone are retried after their own back-off. A Service with very many ports
 * takes several syncs, which follow each other immediately, with the changes of others that have come meanwhile. Between syncs, however fast
 * they follow each other, the verifier gets its turns. Stopping waits for the running step.
 */
export class SyncLoop {
  readonly pending = new PendingChanges();
  /** Changes that the running sync has dequeued. */
  private inFlight: DequeuedChanges | undefined;
  /** When the first event arrived that no sync has dequeued. */
  private waitingSince: number | undefined;
  private state: 'waiting' | 'idle' | 'scheduled' | 'due' | 'running' | 'stopped' = 'waiting';
  private work: Promise<void> = Promise.resolve();
  private timer: Timer | undefined;
  private readonly retries: ServicePortRetries;
  private readonly verifier: Verifier;
  private readonly comparison: Comparison;
  private readonly stopping = new AbortController();
  private pauseUntil = 0;
  private failures = 0;
  private readonly problem = new LastingProblem();
  private failingSince = 0;
  private reportFirst!: (problem: string | undefined) => void;
  /** Resolves after the first attempt to sync: with undefined, or with the reason why it failed as a whole. */
  readonly firstAttempt = new Promise<string | undefined>((resolve) => (this.reportFirst = resolve));
  private reportComplete!: () => void;
  /** Resolves after the first sync for which everything could be read. */
  readonly complete = new Promise<void>((resolve) => (this.reportComplete = resolve));

  constructor(
    private readonly sync: Sync,
    private readonly backend: Backend,
    private periods: SyncPeriods,
    private readonly observer: SyncObserver,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.retries = new ServicePortRetries(clock, sync.outcomes, (key) => this.retry(key));
    const turns: VerifierTurns = {
      enqueue: (step) => this.enqueue(step),
      mayVerify: () => this.failures === 0,
      readNode: () => this.note((pending) => pending.nodeChanged()),
      programEverything: () => this.note((pending) => pending.everyServiceChanged()),
      failed: (key) => this.retryLater(key),
    };
    this.verifier = new Verifier(turns, sync, periods.syncPeriod, observer, clock, logger);
    this.comparison = new Comparison(turns, sync, clock);
  }

  get family(): IpFamily {
    return this.backend.family;
  }

  /** Nothing is pending or running, the first sync is done, and no rules stay that may go. */
  get inSync(): boolean {
    return this.state === 'idle' && this.pending.empty && !this.sync.programsEverything;
  }

  /** These periods apply from now on, also to the next verification. */
  use(periods: SyncPeriods): void {
    this.periods = periods;
    this.verifier.use(periods.syncPeriod);
  }

  /** The forwarding table that the kernel should implement. */
  get table(): ForwardingTable {
    return this.sync.table;
  }

  /** Whether something about the Service is not yet programmed, nor known to fail. */
  isWaiting(service: ServiceKey): boolean {
    return (
      this.sync.programsEverything ||
      this.pending.includes(service) ||
      this.inFlight?.everyService === true ||
      this.inFlight?.services.has(service) === true ||
      this.sync.isBehind(service)
    );
  }

  /** Everything has been listed: the first sync may run. Idempotent. */
  initialized(): void {
    if (this.state !== 'waiting') return;
    this.state = 'idle';
    this.observer.loopStarted(this.family);
    this.pending.everyServiceChanged();
    this.changed();
  }

  /** `Sync.unreadObjects`. */
  get unreadObjects(): readonly string[] {
    return this.sync.unreadObjects;
  }

  /** `Backend.failedDeletes`. */
  get failedDeletes(): readonly string[] {
    return this.backend.failedDeletes ?? [];
  }

  /** `Sync.unreadSources`. */
  get unreadSources(): readonly string[] {
    return this.sync.unreadSources;
  }

  /** `Retries.recent`. */
  get rejectedPorts(): readonly ServicePortKey[] {
    return this.retries.recent();
  }

  /** Something was added to `pending`. */
  changed(): void {
    if (this.state === 'waiting' || this.state === 'stopped') return;
    this.observer.queued(this.family);
    this.waitingSince ??= this.clock.steady();
    this.verifier.interrupt();
    if (this.state === 'idle') this.schedule();
    else if (this.state === 'scheduled' && this.failures > 0) this.reschedule();
  }

  /** `Verifier.verifyNow`. */
  verifyNow(): Promise<string | undefined> {
    return this.verifier.verifyNow();
  }

  /** `Comparison.differences`. */
  differences(signal?: AbortSignal): Promise<readonly RuleDifference[] | undefined> {
    return this.comparison.differences(signal);
  }

  /** Ends the loop after the running step. */
  async stop(): Promise<void> {
    this.state = 'stopped';
    this.stopping.abort(new Error('the proxy is stopping'));
    this.timer?.cancel();
    this.verifier.stop();
    this.comparison.stop();
    this.retries.stop();
    await this.work;
  }

  private schedule(delay = this.pauseUntil - this.clock.steady()): void {
    this.state = 'scheduled';
    if (delay >= 1) this.timer = this.clock.after(delay, () => this.due());
    else this.due();
  }

  private due(): void {
    this.state = 'due';
    this.comparison.preempt();
    this.enqueue(() => this.run());
  }

  /** A new change need not wait for the end of a back-off. */
  private reschedule(): void {
    this.timer?.cancel();
    this.schedule();
  }

  /** Chains work, so that syncs and verifications never overlap. */
  private enqueue(step: () => Promise<void>): void {
    this.work = this.work.then(step).catch((error: unknown) => {
      this.logger.error({ family: this.family, error }, 'sync loop failed unexpectedly');
    });
  }

  private async run(): Promise<void> {
    if (this.state !== 'due') return;
    this.state = 'running';
    const changes = this.pending.dequeue();
    this.inFlight = changes;
    this.observer.dequeued(this.family);
    const start = this.clock.steady();
    const since = this.waitingSince ?? start;
    this.waitingSince = undefined;
    const failed = await this.attempt(changes, start, since);
    this.inFlight = undefined;
    if (this.isStopped()) return;
    const now = this.clock.steady();
    this.pauseUntil = now + pauseAfter(now - start, this.periods);
    this.state = 'idle';
    const delay = retryDelayAmongChanges(this.failures, now - this.failingSince);
    if (failed) this.schedule(Math.max(this.pauseUntil - now, Math.min(this.periods.syncPeriod, delay)));
    else if (this.sync.isBehind()) this.scheduleRemainder(since);
    else if (!this.pending.empty) this.schedule();
    this.verifier.schedule();
  }

  /** The sync left something to the next one. A turn of the event loop lets changes in that have arrived meanwhile. */
  private scheduleRemainder(since: number): void {
    this.waitingSince = since;
    this.observer.queued(this.family);
    this.schedule(1);
  }

  private async attempt(changes: DequeuedChanges, start: number, since: number): Promise<boolean> {
    const { family } = this;
    const programsEverything = this.sync.programsEverything;
    try {
      const programmed = await this.sync.program(changes, this.stopping.signal);
      const times = this.pending.leave(changes, (key) => this.sync.isBehind(key));
      const report = this.report(programmed, { ...changes, ...times }, start, since);
      this.failures = 0;
      this.problem.end();
      if (report.full) this.verifier.started({ start, end: this.clock.steady() });
      for (const { key } of report.failed) this.retryLater(key);
      this.observer.finished(family, report);
      if (report.full) this.programmedEverything(report);
      else logChanges(this.logger, family, report);
      return false;
    } catch (error) {
      const reason = errorMessage(error);
      this.reportFirst(`${family}: ${reason}`);
      // It was cut short by the stop, and is not retried.
      if (this.isStopped()) return true;
      if (this.failures++ === 0) this.failingSince = this.clock.steady();
      this.pending.everyServiceChanged();
      this.pending.triggeredEarlier(changes.triggerTimes);
      this.logger[this.problem.level(error, 'error')](
        { family, error, attempt: this.failures },
        'sync failed; will retry',
      );
      const nothing = { ...NOTHING_APPLIED, full: programsEverything, changed: [] };
      const untimed = { ...changes, triggers: new Map(), triggerTimes: [] };
      const report = this.report(nothing, untimed, start, since);
      this.observer.finished(family, { ...report, ok: false, error: reason });
      return true;
    }
  }

  /** The report of a sync that ends now. */
  private report(
    programmed: ProgrammedChanges,
    { everyService, triggers, triggerTimes }: DequeuedChanges,
    start: number,
    since: number,
  ): SyncReport {
    const now = this.clock.steady();
    return {
      ok: true,
      ...programmed,
      everyService,
      seconds: (now - start) / 1000,
      sinceEventSeconds: (now - since) / 1000,
      triggers,
      programmingLatencies: triggerTimes.map((time) => (this.clock.now() - time) / 1000),
      noLocalEndpoints: this.sync.table.noLocalEndpoints,
    };
  }

  private programmedEverything({ written, seconds }: SyncReport): void {
    const ms = Math.round(seconds * 1000);
    const services = this.sync.table.size;
    this.logger.info({ family: this.family, services, written, ms }, 'programmed everything');
    this.reportFirst(undefined);
    if (this.sync.unreadSources.length === 0) this.reportComplete();
  }

  private retryLater(key: ServicePortKey): void {
    if (!this.isStopped()) this.retries.later(key);
  }

  private retry(key: ServicePortKey): void {
    this.note((pending) => pending.serviceChanged(serviceOf(key)));
  }

  private note(change: (pending: PendingChanges) => void): void {
    change(this.pending);
    this.changed();
  }

  /** A method, so that the compiler does not assume that the state stays the same while a step waits. */
  private isStopped(): boolean {
    return this.state === 'stopped';
  }
}

/** Logs the outcome for each service port that changed, at debug level. A sync that changed nothing is silent. */
function logChanges(logger: Logger, family: IpFamily, report: SyncReport): void {
  const { changed, failed, written } = report;
  if (changed.length === 0 && written === 0) return;
  const ms = Math.round(report.seconds * 1000);
  const msSinceEvent = Math.round(report.sinceEventSeconds * 1000);
  const failures = new Set(failed.map(({ key }) => key));
  for (const { key, entry } of changed) {
    if (failures.has(key)) continue;
    if (entry) {
      const endpoints = entry.endpoints.reachable.length;
      logger.debug({ family, service: key, msSinceEvent, endpoints }, 'service port programmed');
    } else logger.debug({ family, service: key, msSinceEvent }, 'service port removed');
  }
  logger.debug(
    { family, servicePorts: changed.length, failed: failed.length, written, ms, msSinceEvent },
    'changes programmed',
  );
}

/** Times in milliseconds. */
export interface SyncPeriods {
  /** Between verifications. Also the longest wait after a failure. */
  readonly syncPeriod: number;
  /** Shortest pause between syncs. Undefined: a pause as long as the last sync took, at most LONGEST_PAUSE. */
  readonly minSyncPeriod: number | undefined;
}

const LONGEST_PAUSE = 20;

/** The pause after a sync that took so long. */
function pauseAfter(duration: number, { minSyncPeriod }: SyncPeriods): number {
  return minSyncPeriod ?? Math.min(LONGEST_PAUSE, duration);
}

/** A sync loop as use cases see it: a queue of changes, and a wake-up call. */
export interface ChangeReceiver {
  readonly family: IpFamily;
  readonly pending: PendingChanges;
  changed(): void;
}

/** The loops of the families that this node serves. */
export class FamilyLoops {
  constructor(private readonly loops: readonly ChangeReceiver[]) {}

  /** Queues a change for these families, and wakes their loops. Families that are not served are skipped. */
  note(families: readonly IpFamily[], change: (pending: PendingChanges) => void): void {
    for (const loop of this.loops) {
      if (!families.includes(loop.family)) continue;
      change(loop.pending);
      loop.changed();
    }
  }
}
