import { LastingProblem } from '../message-rate.js';
import { errorMessage } from '../error-message.js';
import type { VerificationKind, VerifyResult } from '../ports/backend.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { Logger } from '../ports/logger.js';
import type { SyncObserver } from '../ports/sync-observer.js';
import { retryDelay } from '../retries.js';
import type { Sync } from '../use-cases/sync.js';
import {
  afterInterruption,
  afterStart,
  afterVerification,
  mayBeInterrupted,
  NEVER_VERIFIED,
  timeToVerification,
  verificationDue,
  withFrequentChecks,
  type VerificationTime,
} from './verification-policy.js';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';

/** The requirements of a verifier on the sync loop. */
export interface VerifierTurns {
  /** Runs a step when nothing else of the family runs. */
  enqueue(step: () => Promise<void>): void;
  /** False until everything is programmed: before, there is nothing to compare with. */
  mayVerify(): boolean;
  /** Requests to read the node again: not every source of its addresses reports changes. */
  readNode(): void;
  /** Requests to program everything again, because unexplained rules may go. */
  programEverything(): void;
  /** Reports that a repair failed for this service port. */
  failed(key: VerifyResult['failed'][number]['key']): void;
}

/** The outcome of a requested verification. */
interface Verification {
  /** A change came first. */
  readonly interrupted: boolean;
  readonly problem?: string;
}

const STOPPING: Verification = { interrupted: false, problem: 'the proxy is stopping' };
/** The next attempt writes missing rules; no other program removed them. */
const FAILING: Verification = { interrupted: false, problem: 'the last sync failed' };

/**
 * Verifies and repairs the rules of one family when the verification policy requires it. A change may interrupt it. One that
 * fails is tried again after a growing delay.
 */
export class Verifier {
  private timer: Timer | undefined;
  private state = NEVER_VERIFIED;
  private nodeReadAt = 0;
  private running: AbortController | undefined;
  /** Verifications that failed in a row: each is followed by a longer pause. */
  private failures = 0;
  private readonly problem = new LastingProblem();
  private isStopped = false;

  /** @param syncPeriod in milliseconds */
  constructor(
    private readonly turns: VerifierTurns,
    private readonly sync: Sync,
    private syncPeriod: number,
    private readonly observer: SyncObserver,
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {}

  /** This period applies from now on, also to the next verification. */
  use(syncPeriod: number): void {
    this.syncPeriod = syncPeriod;
    if (!this.timer) return;
    this.timer.cancel();
    this.timer = undefined;
    this.state = withFrequentChecks(this.state);
    this.schedule();
  }

  /** Reports that everything was programmed, and compared for that. */
  started(time: VerificationTime): void {
    this.nodeReadAt = time.end;
    this.state = afterStart(this.state, time);
  }

  /** Schedules the next verification. Idempotent. */
  schedule(): void {
    if (this.isStopped) return;
    const usual = timeToVerification(this.state, this.clock.steady());
    this.timer ??= this.clock.after(this.failures > 0 ? retryDelay(this.failures) : usual, () => {
      this.timer = undefined;
      this.turns.enqueue(() => this.verify());
    });
  }

  /** Ends a running verification because there is a change to program, unless it was delayed for too long. */
  interrupt(): void {
    if (this.running && mayBeInterrupted(this.state, this.syncPeriod, this.clock.steady()))
      this.running.abort();
  }

  /**
   * Compares the rules with the kernel's after the running sync, unless signs show that no other program touched them, and repairs them;
   * again after changes that interrupt it. Resolves with undefined, or with the reason for a failure.
   */
  async verifyNow(): Promise<string | undefined> {
    for (;;) {
      const outcome = await new Promise<Verification>((resolve) =>
        this.turns.enqueue(async () => resolve(await this.verifyOnce())),
      );
      if (!outcome.interrupted) return outcome.problem;
    }
  }

  stop(): void {
    this.isStopped = true;
    this.timer?.cancel();
    this.running?.abort();
  }

  private async verifyOnce(): Promise<Verification> {
    if (this.isStopped) return STOPPING;
    if (!this.turns.mayVerify()) return FAILING;
    this.running = new AbortController();
    const { signal } = this.running;
    try {
      const { watched, compared } = await this.compare('quick', signal);
      if (!watched && !compared) await this.compare('full', signal);
      return { interrupted: false };
    } catch (error) {
      return { interrupted: signal.aborted, problem: errorMessage(error) };
    } finally {
      this.running = undefined;
    }
  }

  private async verify(): Promise<void> {
    // The next sync schedules this again.
    if (this.isStopped || !this.turns.mayVerify()) return;
    const start = this.clock.steady();
    const how = verificationDue(this.state, this.syncPeriod, start);
    if (start - this.nodeReadAt >= this.syncPeriod) {
      this.nodeReadAt = start;
      this.turns.readNode();
    }
    if (this.sync.canForgetUnexplained) this.turns.programEverything();
    this.running = new AbortController();
    const { signal } = this.running;
    try {
      const result = await this.compare(how, signal);
      const time = { start, end: this.clock.steady() };
      this.state = afterVerification(this.state, this.syncPeriod, how, time, result);
      this.succeeded();
    } catch (error) {
      if (signal.aborted)
        this.state = afterInterruption(this.state, how, { start, end: this.clock.steady() });
      else this.failed(error);
    }
    this.running = undefined;
    this.schedule();
  }

  private succeeded(): void {
    const { family } = this.sync;
    if (this.failures > 0) this.logger.info({ family }, 'the rules can be verified again');
    this.failures = 0;
    this.problem.end();
    this.observer.verified(family);
  }

  private failed(error: unknown): void {
    const { family } = this.sync;
    this.failures++;
    this.logger[this.problem.level(error, 'error')](
      { family, error, attempt: this.failures },
      'cannot verify the rules; will retry',
    );
    this.observer.verified(family, errorMessage(error));
  }

  private async compare(how: VerificationKind, signal: AbortSignal): Promise<VerifyResult> {
    const result = await this.sync.verify(how, signal);
    for (const { key } of result.failed) this.turns.failed(key);
    const { family } = this.sync;
    if (result.written > 0 && result.retriedDeletes)
      this.logger.info(
        { family, steps: result.written },
        'repaired the rules: completed a removal that had failed',
      );
    else if (result.written > 0) {
      this.logger.warn({ family, steps: result.written }, 'another program changed the rules; repaired them');
      this.observer.repaired(family, result.written);
    }
    return result;
  }
}

/** So long after the question changes come first, in milliseconds. Then it is answered, and changes wait for that. */
const GIVES_WAY = 5_000;

const NEVER = new AbortController().signal;

type Found = readonly RuleDifference[] | undefined;

/** One attempt to answer, which a change may end. */
interface Attempt {
  readonly ending: AbortController;
  /** Aborted by a change, or when the request is canceled. */
  readonly signal: AbortSignal;
  readonly firmFrom: number;
}

/** Compares the programmed state with the kernel on request, between syncs. A change interrupts it, and it starts again. */
export class Comparison {
  private running: Attempt | undefined;
  private isStopped = false;

  constructor(
    private readonly turns: Pick<VerifierTurns, 'enqueue'>,
    private readonly sync: Pick<Sync, 'differences'>,
    private readonly clock: Clock,
  ) {}

  /**
   * As `Sync.differences`. @throws also when the proxy stops
   * @param asker aborted when the request is canceled
   */
  async differences(asker: AbortSignal = NEVER): Promise<Found> {
    const firmFrom = this.clock.steady() + GIVES_WAY;
    for (;;) {
      const ending = new AbortController();
      try {
        const signal = AbortSignal.any([ending.signal, asker]);
        return await this.inTurn({ ending, signal, firmFrom });
      } catch (error) {
        asker.throwIfAborted();
        if (!ending.signal.aborted || this.isStopped) throw error;
      }
    }
  }

  /** There is a change to program. */
  preempt(): void {
    if (this.running && this.clock.steady() < this.running.firmFrom) this.running.ending.abort();
  }

  stop(): void {
    this.isStopped = true;
    this.running?.ending.abort(stopping());
  }

  private inTurn(attempt: Attempt): Promise<Found> {
    return new Promise((resolve, reject) =>
      this.turns.enqueue(async () => {
        if (this.isStopped) return reject(stopping());
        if (attempt.signal.aborted) return reject(attempt.signal.reason as Error);
        this.running = attempt;
        await this.sync.differences(attempt.signal).then(resolve, reject);
        this.running = undefined;
      }),
    );
  }
}

function stopping(): Error {
  return new Error('the proxy is stopping');
}
