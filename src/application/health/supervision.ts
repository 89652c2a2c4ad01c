import type { Clock, Timer } from '../ports/clock.js';
import type { ServiceManager } from '../ports/node/service-manager.js';
import type { ProxyHealth } from './proxy-health.js';

/** How often health is looked at until everything has been programmed, in milliseconds. */
const UNTIL_READY = 250;

/**
 * Reports the proxy's health to what supervises the process.
 * - starting, until every family is healthy for the first time: what the proxy waits for is its status;
 * - serving, from then on, however its health is: the service is ready once. At twice the rate that the watchdog asks for, the
 *   process is reported alive, unless a sync is overdue; without reports it is restarted.
 */
export class Supervision {
  private timer: Timer | undefined;
  private isServing = false;
  private said: string | undefined;

  constructor(
    private readonly manager: ServiceManager,
    private readonly health: ProxyHealth,
    private readonly clock: Clock,
  ) {}

  start(): void {
    this.look();
  }

  /** Idempotent. */
  stop(): void {
    this.timer?.cancel();
    this.manager.stopping();
  }

  private look(): void {
    const { healthy, reason = 'starting' } = this.health.verdict();
    if (healthy && !this.isServing) {
      this.isServing = true;
      this.manager.ready();
    }
    this.say(healthy ? 'everything is programmed' : reason);
    if (this.health.liveness().healthy) this.manager.alive();
    const { watchdogMilliseconds } = this.manager;
    const pause = watchdogMilliseconds === undefined ? undefined : watchdogMilliseconds / 2;
    const next = this.isServing ? pause : Math.min(UNTIL_READY, pause ?? UNTIL_READY);
    if (next !== undefined) this.timer = this.clock.after(next, () => this.look());
  }

  private say(text: string): void {
    if (text === this.said) return;
    this.said = text;
    this.manager.status(text);
  }
}
