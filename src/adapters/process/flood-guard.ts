import type { Clock, Timer } from '../../application/ports/clock.js';
import type { HighVerbosity, Logger } from '../../application/ports/logger.js';

export interface FloodGuardOptions {
  readonly logger: Logger;
  readonly clock: Clock;
  /** How many lines with the same message are logged in a minute. Default 20. */
  readonly burst?: number;
}

/** Milliseconds. */
const WINDOW = 60_000;

type Level = 'info' | 'warn' | 'error';

interface Window {
  readonly level: Level;
  readonly message: string;
  passed: number;
  withheld: number;
  readonly end: Timer;
}

/** Shared by a guard and its children, so that the limit applies to a message of any of them. */
interface Windows extends Required<FloodGuardOptions> {
  readonly open: Map<string, Window>;
  /** Reports the number of suppressed lines, without a child's facts. */
  readonly logger: Logger;
}

/**
 * A log that cannot be flooded: of the lines with the same level and message, only the first ones in each window are logged,
 * and at its end one line reports how many were suppressed. Messages are fixed texts (facts hold what varies), so their number
 * is small. Debug lines are always logged.
 */
export class FloodGuard implements Logger {
  static guard({ logger, clock, burst = 20 }: FloodGuardOptions): FloodGuard {
    return new FloodGuard(logger, { open: new Map(), logger, clock, burst });
  }

  private constructor(
    private readonly logger: Logger,
    private readonly windows: Windows,
  ) {}

  debug(facts: object, message: string): void {
    this.logger.debug(facts, message);
  }

  info(facts: object, message: string): void {
    if (this.passes('info', message)) this.logger.info(facts, message);
  }

  warn(facts: object, message: string): void {
    if (this.passes('warn', message)) this.logger.warn(facts, message);
  }

  error(facts: object, message: string): void {
    if (this.passes('error', message)) this.logger.error(facts, message);
  }

  verbose(verbosity: HighVerbosity): Pick<Logger, 'debug'> | undefined {
    return this.logger.verbose?.(verbosity);
  }

  child(facts: object): FloodGuard {
    return new FloodGuard(this.logger.child(facts), this.windows);
  }

  /** Reports suppressed lines and releases the timers. For the end of the process. Idempotent. */
  close(): void {
    for (const key of [...this.windows.open.keys()]) this.endWindow(key);
  }

  private passes(level: Level, message: string): boolean {
    const { open, clock, burst } = this.windows;
    const key = `${level} ${message}`;
    let window = open.get(key);
    if (!window) {
      const end = clock.after(WINDOW, () => this.endWindow(key));
      window = { level, message, passed: 0, withheld: 0, end };
      open.set(key, window);
    }
    if (window.passed >= burst) {
      window.withheld += 1;
      return false;
    }
    window.passed += 1;
    return true;
  }

  private endWindow(key: string): void {
    const window = this.windows.open.get(key);
    if (!window) return;
    this.windows.open.delete(key);
    window.end.cancel();
    const { level, message, withheld } = window;
    if (withheld > 0) this.windows.logger[level]({ withheld }, `${message} (more of these)`);
  }
}
