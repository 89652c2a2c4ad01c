import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { Clock, Timer } from '../ports/clock.js';
import { retryDelayAmongChanges } from './backoff.js';
import type { SyncFamily } from './sync-family.js';

/** Milliseconds. */
const LONG = 60_000;

/** Schedules retries of service ports that failed alone: each after its own back-off. */
export class Retries {
  /** By service port, also some that do not fail any more. */
  private readonly failing = new Map<ServicePortKey, { readonly since: number; readonly timer: Timer }>();

  constructor(
    private readonly clock: Clock,
    private readonly sync: Pick<SyncFamily, 'attempts'>,
    private readonly retry: (key: ServicePortKey) => void,
  ) {}

  /** @param key has just failed */
  later(key: ServicePortKey): void {
    const attempts = this.sync.attempts(key)!;
    const now = this.clock.steady();
    const former = this.failing.get(key);
    former?.timer.cancel();
    const since = attempts > 1 && former ? former.since : now;
    const delay = retryDelayAmongChanges(attempts, now - since);
    this.failing.set(key, { since, timer: this.clock.after(delay, () => this.due(key)) });
  }

  /** Those that have failed for less than a minute. */
  recent(): readonly ServicePortKey[] {
    const start = this.clock.steady() - LONG;
    return [...this.failing].flatMap(([key, { since }]) => (since > start && this.fails(key) ? key : []));
  }

  stop(): void {
    for (const { timer } of this.failing.values()) timer.cancel();
    this.failing.clear();
  }

  private due(key: ServicePortKey): void {
    // An update may have fixed it, or it may be gone.
    if (this.fails(key)) this.retry(key);
    else this.failing.delete(key);
  }

  private fails(key: ServicePortKey): boolean {
    return this.sync.attempts(key) !== undefined;
  }
}
