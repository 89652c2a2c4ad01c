import type { ServicePortKey } from '../../domain/model/service-port-name.js';
import type { Clock, Timer } from '../ports/clock.js';
import { retryDelay } from './backoff.js';

/** Schedules retries of service ports that failed alone: each after its own back-off. */
export class Retries {
  private readonly timers = new Map<ServicePortKey, Timer>();

  /** @param retry called when the retry is due; the service port may have been programmed, or be gone, by then */
  constructor(
    private readonly clock: Clock,
    private readonly retry: (key: ServicePortKey) => void,
  ) {}

  /** @param attempts how often in a row it has failed */
  later(key: ServicePortKey, attempts: number): void {
    this.timers.get(key)?.cancel();
    const timer = this.clock.after(retryDelay(attempts), () => {
      this.timers.delete(key);
      this.retry(key);
    });
    this.timers.set(key, timer);
  }

  stop(): void {
    for (const timer of this.timers.values()) timer.cancel();
    this.timers.clear();
  }
}
