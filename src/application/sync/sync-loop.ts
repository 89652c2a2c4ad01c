import type { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { serviceOf, type ServiceKey, type ServicePortKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { PendingChanges, type TakenChanges } from '../../domain/state/pending-changes.js';
import type { Backend, VerifyResult } from '../ports/backend.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { SyncObserver } from '../ports/sync-observer.js';
import { retryDelay } from './backoff.js';
import type { SyncFamily } from './sync-family.js';

/** Times in milliseconds. */
export interface SyncPeriods {
  /** Between verifications. Also the longest wait after a failure. */
  readonly syncPeriod: number;
  /** Least pause between syncs. Undefined: a pause as long as the last sync took, at most LONGEST_PAUSE. */
  readonly minSyncPeriod: number | undefined;
}

const LONGEST_PAUSE = 20;
/** So many Services keep the process busy for a few milliseconds. */
const PREPARED_AT_ONCE = 50;
/** How often to look whether somebody touched the rules. */
const GLANCE_PERIOD = 1_000;
/** Where others write all the time and comparing is cheap: damage must be noticed within seconds all the same. */
const LONGEST_GLANCE_PERIOD = 3_000;
const COMPARISON_SHARE = 20;
/** So many periods a verification may be put off by changes; then it is carried through. */
const PATIENCE = 4;

/**
 * Decides when one family is synced, and does one thing at a time.
 *
 * It waits until Services and EndpointSlices have been listed: nothing is written before, but what is known is
 * prepared between one arrival and the next. Then it runs the first sync and is idle. A change wakes it: a sync is due
 * at once when the pause after the last one is over, otherwise scheduled for its end, and everything that came
 * meanwhile goes into the same sync. A sync that failed as a whole keeps its changes and is repeated after a backoff,
 * sooner if another change comes. Service ports that alone failed are tried again after a backoff of their own.
 * Between syncs, however fast they follow each other, it glances once a second whether the rules were touched, less
 * often when they are touched without harm, and inspects them every sync period; a change interrupts that, unless it
 * was put off too often. Stopping waits for what is under way.
 */
export class SyncLoop {
  readonly pending = new PendingChanges();
  /** What the sync that is running has taken up. */
  private underWay: TakenChanges | undefined;
  private state: 'waiting' | 'idle' | 'scheduled' | 'due' | 'running' | 'stopped' = 'waiting';
  private work: Promise<void> = Promise.resolve();
  private timer: Timer | undefined;
  private verifyTimer: Timer | undefined;
  private preparation: Timer | undefined;
  private readonly retries = new Map<ServicePortKey, Timer>();
  private pauseUntil = 0;
  private failures = 0;
  private glancePeriod = GLANCE_PERIOD;
  private lastInspection = 0;
  /** How long the last comparison with the kernel took. */
  private comparison = 0;
  private verification: AbortController | undefined;
  private reportFirst!: (problem: string | undefined) => void;
  /** Resolves after the first try to sync: with undefined, or with the reason why it failed as a whole. */
  readonly firstAttempt = new Promise<string | undefined>((resolve) => (this.reportFirst = resolve));

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
    this.glancePeriod = GLANCE_PERIOD;
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
    this.preparation?.cancel();
    this.state = 'idle';
    this.observer.loopStarted(this.family);
    this.pending.everyServiceChanged();
    this.changed();
  }

  /** Something was added to `pending`. */
  changed(): void {
    if (this.state === 'waiting') return this.prepareSoon();
    if (this.state === 'stopped') return;
    this.observer.queued(this.family);
    if (this.clock.now() - this.lastInspection < PATIENCE * this.inspectionPeriod) this.verification?.abort();
    if (this.state === 'idle') this.schedule();
    else if (this.state === 'scheduled' && this.failures > 0) this.reschedule();
  }

  /**
   * Compares the rules with the kernel's after what is under way, unless it is certain that they stand, and repairs them;
   * no change interrupts that. Resolves with undefined, or with the reason when it could not be done.
   */
  inspect(): Promise<string | undefined> {
    return new Promise((resolve) =>
      this.enqueue(async () => {
        if (this.isStopped()) return resolve('the proxy stops');
        const uninterrupted = new AbortController().signal;
        await this.compare('inspection', uninterrupted).then(
          () => resolve(undefined),
          (error: unknown) => resolve(error instanceof Error ? error.message : String(error)),
        );
      }),
    );
  }

  /** Ends the loop after what is under way. */
  async stop(): Promise<void> {
    this.state = 'stopped';
    this.preparation?.cancel();
    this.timer?.cancel();
    this.verifyTimer?.cancel();
    this.verification?.abort();
    for (const timer of this.retries.values()) timer.cancel();
    this.retries.clear();
    await this.work;
  }

  /** In the pauses between what arrives. */
  private prepareSoon(): void {
    if (!this.sync.canPrepare) return;
    this.preparation ??= this.clock.after(0, () => {
      this.preparation = undefined;
      this.enqueue(() => this.prepare());
    });
  }

  private async prepare(): Promise<void> {
    if (this.state !== 'waiting') return;
    await this.sync.prepare(this.pending.takeServices(PREPARED_AT_ONCE));
    if (this.pending.serviceCount > 0) this.prepareSoon();
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
    const changes = this.pending.take();
    this.underWay = changes;
    this.observer.taken(this.family);
    const start = this.clock.now();
    const failed = await this.attempt(changes, start);
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

  private async attempt(changes: TakenChanges, start: number): Promise<boolean> {
    const { family } = this;
    const startsAnew = this.sync.startsAnew;
    try {
      const { full, written, failed } = await this.sync.program(changes);
      const now = this.clock.now();
      this.failures = 0;
      if (full) this.lastInspection = now;
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
      this.reportFirst(undefined);
      return false;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.reportFirst(`${family}: ${reason}`);
      this.failures++;
      this.pending.everyServiceChanged();
      this.pending.triggeredEarlier(changes.triggerTimes);
      this.logger.error(
        { family, error, attempt: this.failures },
        'sync failed; nothing was changed, will try again',
      );
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
    this.verifyTimer ??= this.clock.after(this.glancePeriod, () => {
      this.verifyTimer = undefined;
      this.enqueue(() => this.verify());
    });
  }

  /** Comparing a large table costs the kernel time: it may take a twentieth of it at most. */
  private get inspectionPeriod(): number {
    return Math.max(this.periods.syncPeriod, COMPARISON_SHARE * this.comparison);
  }

  private async verify(): Promise<void> {
    // While nothing can be programmed there is nothing to compare with; the next sync schedules this again.
    if (this.isStopped() || this.failures > 0) return;
    const start = this.clock.now();
    const due = start - this.lastInspection >= this.inspectionPeriod;
    if (due) {
      // Addresses of the node come and go without an event.
      this.pending.nodeChanged();
      this.changed();
    }
    this.verification = new AbortController();
    const { signal } = this.verification;
    try {
      const { compared, written } = await this.compare(due ? 'inspection' : 'glance', signal);
      const now = this.clock.now();
      if (due) this.lastInspection = now;
      if (compared) this.comparison = now - start;
      this.glancePeriod =
        compared && written === 0
          ? Math.min(
              this.inspectionPeriod,
              Math.max(
                Math.min(this.glancePeriod * 2, LONGEST_GLANCE_PERIOD),
                COMPARISON_SHARE * this.comparison,
              ),
            )
          : GLANCE_PERIOD;
    } catch (error) {
      if (!signal.aborted) {
        this.logger.error({ family: this.family, error }, 'rules could not be verified; will try again');
      }
    }
    this.verification = undefined;
    if (!this.isStopped()) this.scheduleVerification();
  }

  private async compare(how: 'glance' | 'inspection', signal: AbortSignal): Promise<VerifyResult> {
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
