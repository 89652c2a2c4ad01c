import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { ServicePortOutcomes } from './service-port-outcomes.js';

/** Milliseconds. */
export interface RetryTimes {
  readonly initial: number;
  readonly maximum: number;
}

const USUAL: RetryTimes = { initial: 1_000, maximum: 60_000 };

/**
 * How long to wait after this many failures in a row, in milliseconds: the initial time, then twice as long each time,
 * up to the maximum. By default from a second to a minute.
 */
export function retryDelay(failures: number, { initial, maximum }: RetryTimes = USUAL): number {
  return Math.min(maximum, initial * 2 ** Math.max(0, failures - 1));
}

/**
 * The same where changes are attempts, too: many in a short time are no reason to wait long.
 * @param lasted since the first of these failures, in milliseconds
 */
export function retryDelayAmongChanges(failures: number, lasted: number): number {
  return Math.min(retryDelay(failures), USUAL.initial + lasted);
}

/** Milliseconds. */
const LONG = 10_000;
/** What is due within this time is tried again at once: of a Service, ports fail one just after another. */
const TOGETHER = 20;

interface Failing {
  readonly since: number;
  /** When it is due; Infinity while it is being tried. */
  readonly at: number;
  readonly timer: Timer;
}

/** Schedules retries of service ports that failed alone: each after its own back-off. */
export class Retries {
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
