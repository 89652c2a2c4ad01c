import type { ServiceKey } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { Clock, Timer } from '../ports/clock.js';
import type { KeptFor, TrafficWatchers } from './traffic-watchers.js';

/** How often counted connections are checked, in milliseconds. */
const PERIOD = 1_000;

/** The parts of the proxy that use cases need which act on counted connections. */
export interface CountingTargets {
  readonly traffic: Pick<TrafficWatchers, 'keepCounting' | 'counted'>;
  /** Schedules that the entries of a Service are computed and programmed again. */
  recompute(family: IpFamily, service: ServiceKey): void;
}

/** Has connections counted, and calls a check every second meanwhile. */
export class PeriodicCheck {
  private running: { readonly release: () => void; timer: Timer } | undefined;

  /** @param targets called when counting begins */
  constructor(
    private readonly targets: () => Pick<CountingTargets, 'traffic'>,
    private readonly what: KeptFor,
    private readonly check: () => void,
    private readonly clock: Clock,
  ) {}

  get isRunning(): boolean {
    return this.running !== undefined;
  }

  /**
   * Idempotent.
   * @throws ConntrackUnavailableError
   */
  start(): void {
    this.running ??= { release: this.targets().traffic.keepCounting(this.what), timer: this.schedule() };
  }

  /** Idempotent. */
  stop(): void {
    this.running?.timer.cancel();
    this.running?.release();
    this.running = undefined;
  }

  private schedule(): Timer {
    return this.clock.after(PERIOD, () => {
      this.check();
      if (this.running) this.running.timer = this.schedule();
    });
  }
}
