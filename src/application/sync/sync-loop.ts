import type { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { serviceOf, type ServiceKey, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { PendingChanges, type DequeuedChanges } from '../../domain/state/pending-changes.js';
import { errorMessage } from '../error-message.js';
import type { Backend, VerificationKind, VerifyResult } from '../ports/backend.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { SyncObserver } from '../ports/sync-observer.js';
import { retryDelay } from './backoff.js';
import { logChanges } from './change-log.js';
import type { SyncFamily } from './sync-family.js';
import {
  afterInterruption,
  afterStart,
  afterVerification,
  mayBeInterrupted,
  NEVER_VERIFIED,
  verificationDue,
  withFrequentGlances,
} from './verification-policy.js';

/** Times in milliseconds. */
export interface SyncPeriods {
  /** Between verifications. Also the longest wait after a failure. */
  readonly syncPeriod: number;
  /** Least pause between syncs. Undefined: a pause as long as the last sync took, at most LONGEST_PAUSE. */
  readonly minSyncPeriod: number | undefined;
}

const LONGEST_PAUSE = 20;

/**
 * Decides when one family is synced, and does one thing at a time.
 *
 * It waits until Services and EndpointSlices have been listed: nothing is written before. Then it runs the first sync
 * and is idle. A change wakes it: a sync is due at once when the pause after the last one is over, otherwise scheduled
 * for its end, and everything that came meanwhile goes into the same sync. A sync that failed as a whole keeps its
 * changes and is repeated after a backoff, sooner if another change comes. Service ports that alone failed are tried
 * again after a backoff of their own. Between syncs, however fast they follow each other, the rules are verified as the
 * verification policy says; a change interrupts that, unless it was put off too often. Stopping waits for what is under
 * way.
 */
export class SyncLoop {
  readonly pending = new PendingChanges();
  /** What the sync that is running has taken up. */
  private underWay: DequeuedChanges | undefined;
  /** When the first event came that no sync has taken up. */
  private waitingSince: number | undefined;
  private state: 'waiting' | 'idle' | 'scheduled' | 'due' | 'running' | 'stopped' = 'waiting';
  private work: Promise<void> = Promise.resolve();
  private timer: Timer | undefined;
  private verifyTimer: Timer | undefined;
  private readonly retries = new Map<ServicePortKey, Timer>();
  private pauseUntil = 0;
  private failures = 0;
  private verified = NEVER_VERIFIED;
  private verification: AbortController | undefined;
  private reportFirst!: (problem: string | undefined) => void;
  /** Resolves after the first try to sync: with undefined, or with the reason why it failed as a whole. */
  readonly firstAttempt = new Promise<string | undefined>((resolve) => (this.reportFirst = resolve));

  private reportComplete!: () => void;
  /** Resolves after the first sync for which everything could be read: what no object explains is gone by then. */
  readonly complete = new Promise<void>((resolve) => (this.reportComplete = resolve));

  constructor(
    private readonly sync: SyncFamily,
    private readonly backend: Backend,
    private periods: SyncPeriods,
    private readonly observer: SyncObserver,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  get family(): IpFamily {
    return this.backend.family;
  }

  /** Nothing waits, nothing runs, and the first sync is done. */
  get settled(): boolean {
    return this.state === 'idle' && this.pending.empty && this.failures === 0;
  }

  /** From now on these periods count, also for the verification that is due next. */
  use(periods: SyncPeriods): void {
    this.periods = periods;
    if (!this.verifyTimer) return;
    this.verifyTimer.cancel();
    this.verifyTimer = undefined;
    this.verified = withFrequentGlances(this.verified);
    this.scheduleVerification();
  }

  /** What is wanted in the kernel. */
  get table(): ForwardingTable {
    return this.sync.table;
  }

  /** Whether something about the Service is not yet programmed, nor known to fail. */
  isWaiting(service: ServiceKey): boolean {
    return (
      this.state === 'waiting' ||
      this.pending.includes(service) ||
      this.underWay?.everyService === true ||
      this.underWay?.services.has(service) === true
    );
  }

  /** Everything has been listed: the first sync may run. Idempotent. */
  initialised(): void {
    if (this.state !== 'waiting') return;
    this.state = 'idle';
    this.observer.loopStarted(this.family);
    this.pending.everyServiceChanged();
    this.changed();
  }

  /** What could not be read since the start, for people. Rules that no object explains are kept for it. */
  get keptFor(): readonly string[] {
    return this.sync.keptFor;
  }

  /** Something was added to `pending`. */
  changed(): void {
    if (this.state === 'waiting' || this.state === 'stopped') return;
    this.observer.queued(this.family);
    this.waitingSince ??= this.clock.now();
    if (mayBeInterrupted(this.verified, this.periods.syncPeriod, this.clock.now()))
      this.verification?.abort();
    if (this.state === 'idle') this.schedule();
    else if (this.state === 'scheduled' && this.failures > 0) this.reschedule();
  }

  /**
   * Compares the rules with the kernel's after what is under way, unless every sign says that they stand, and repairs them;
   * no change interrupts that. Resolves with undefined, or with the reason when it could not be done.
   */
  inspect(): Promise<string | undefined> {
    return new Promise((resolve) =>
      this.enqueue(async () => {
        if (this.isStopped()) return resolve('the proxy stops');
        const uninterrupted = new AbortController().signal;
        await this.compare('inspection', uninterrupted).then(
          () => resolve(undefined),
          (error: unknown) => resolve(errorMessage(error)),
        );
      }),
    );
  }

  /** Ends the loop after what is under way. */
  async stop(): Promise<void> {
    this.state = 'stopped';
    this.timer?.cancel();
    this.verifyTimer?.cancel();
    this.verification?.abort();
    for (const timer of this.retries.values()) timer.cancel();
    this.retries.clear();
    await this.work;
  }

  private schedule(delay = this.pauseUntil - this.clock.now()): void {
    this.state = 'scheduled';
    if (delay >= 1) this.timer = this.clock.after(delay, () => this.due());
    else this.due();
  }

  private due(): void {
    this.state = 'due';
    this.enqueue(() => this.run());
  }

  /** A new change need not wait for the end of a backoff. */
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
    this.underWay = changes;
    this.observer.taken(this.family);
    const start = this.clock.now();
    const since = this.waitingSince ?? start;
    this.waitingSince = undefined;
    const failed = await this.attempt(changes, start, since);
    this.underWay = undefined;
    if (this.isStopped()) return;
    const now = this.clock.now();
    this.pauseUntil = now + (this.periods.minSyncPeriod ?? Math.min(LONGEST_PAUSE, now - start));
    this.state = 'idle';
    if (failed)
      this.schedule(
        Math.max(this.pauseUntil - now, Math.min(this.periods.syncPeriod, retryDelay(this.failures))),
      );
    else if (!this.pending.empty) this.schedule();
    this.scheduleVerification();
  }

  private async attempt(changes: DequeuedChanges, start: number, since: number): Promise<boolean> {
    const { family } = this;
    const startsAnew = this.sync.startsAnew;
    try {
      const { full, written, failed, changed } = await this.sync.program(changes);
      const now = this.clock.now();
      this.failures = 0;
      if (full) this.verified = afterStart(this.verified, now);
      for (const key of failed) this.retryLater(key);
      this.observer.finished(family, {
        ok: true,
        full,
        seconds: (now - start) / 1000,
        written,
        failed: failed.length,
        programmingLatencies: changes.triggerTimes.map((time) => (now - time) / 1000),
        noLocalEndpoints: this.sync.table.noLocalEndpoints,
      });
      if (full)
        this.logger.info(
          { family, services: this.sync.table.size, written, ms: Math.round(now - start) },
          'programmed everything',
        );
      else
        logChanges(this.logger, {
          family,
          changed,
          failed,
          written,
          ms: Math.round(now - start),
          sinceEvent: Math.round(now - since),
        });
      this.reportFirst(undefined);
      if (this.sync.keptFor.length === 0) this.reportComplete();
      return false;
    } catch (error) {
      const reason = errorMessage(error);
      this.reportFirst(`${family}: ${reason}`);
      this.failures++;
      this.pending.everyServiceChanged();
      this.pending.triggeredEarlier(changes.triggerTimes);
      this.logger.error({ family, error, attempt: this.failures }, 'sync failed; will try again');
      this.observer.finished(family, {
        ok: false,
        error: reason,
        full: startsAnew,
        seconds: (this.clock.now() - start) / 1000,
        written: 0,
        failed: 0,
        programmingLatencies: [],
        noLocalEndpoints: this.sync.table.noLocalEndpoints,
      });
      return true;
    }
  }

  private retryLater(key: ServicePortKey): void {
    this.retries.get(key)?.cancel();
    if (this.isStopped()) return;
    const delay = retryDelay(this.sync.attempts(key));
    const timer = this.clock.after(delay, () => {
      this.retries.delete(key);
      // An update may have mended it, or it may be gone.
      if (this.sync.attempts(key) === 0) return;
      this.pending.serviceChanged(serviceOf(key));
      this.changed();
    });
    this.retries.set(key, timer);
  }

  private scheduleVerification(): void {
    this.verifyTimer ??= this.clock.after(this.verified.glancePeriod, () => {
      this.verifyTimer = undefined;
      this.enqueue(() => this.verify());
    });
  }

  private async verify(): Promise<void> {
    // While nothing can be programmed there is nothing to compare with; the next sync schedules this again.
    if (this.isStopped() || this.failures > 0) return;
    const start = this.clock.now();
    const how = verificationDue(this.verified, this.periods.syncPeriod, start);
    if (how !== 'glance') {
      // Not every source of the node's addresses tells when they come and go.
      this.pending.nodeChanged();
      this.changed();
    }
    if (this.sync.canForgetUnexplained) {
      this.pending.everyServiceChanged();
      this.changed();
    }
    this.verification = new AbortController();
    const { signal } = this.verification;
    try {
      const result = await this.compare(how, signal);
      const time = { start, end: this.clock.now() };
      this.verified = afterVerification(this.verified, this.periods.syncPeriod, how, time, result);
    } catch (error) {
      if (signal.aborted)
        this.verified = afterInterruption(this.verified, how, { start, end: this.clock.now() });
      else this.logger.error({ family: this.family, error }, 'rules could not be verified; will try again');
    }
    this.verification = undefined;
    if (!this.isStopped()) this.scheduleVerification();
  }

  private async compare(how: VerificationKind, signal: AbortSignal): Promise<VerifyResult> {
    const result = await this.sync.verify(how, signal);
    for (const { key } of result.failed) this.retryLater(key);
    if (result.written > 0) {
      this.logger.warn(
        { family: this.family, steps: result.written },
        'somebody changed the rules; repaired',
      );
      this.observer.repaired(this.family, result.written);
    }
    return result;
  }

  /** A method, since the state changes while a step waits. */
  private isStopped(): boolean {
    return this.state === 'stopped';
  }
}
