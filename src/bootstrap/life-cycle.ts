import type { Clock } from '../application/ports/clock.js';
import type { Logger } from '../application/ports/logger.js';
import { NamedError } from '../domain/model/named-error.js';

/** Something that runs until it is stopped: the two ends of its life, under one name. */
export interface Part {
  /** The name for operators: `metrics server`. */
  readonly name: string;
  /**
   * Resolves when it runs. Missing: it is running when it is registered, or starts by itself.
   * @param signal aborted when everything has to stop, during the start or later
   * @throws when it cannot run; the proxy then does not start
   */
  start?(signal: AbortSignal): Promise<void> | void;
  /** Idempotent. Called once `start` was called, even if that failed or has not resolved. Missing: it ends by itself. */
  stop?(): Promise<void> | void;
}

/** All parts together, in milliseconds: the process ends within five seconds of the signal. */
const STOP_LIMIT = 4_000;

/** A part took longer to stop than it may. */
class StopTimeoutError extends NamedError {
  constructor(milliseconds: number) {
    super(`did not stop within ${Math.round(milliseconds)} ms; no longer waiting for it`);
  }
}

/**
 * The parts that run, in the order in which they start, one after the other. They stop one after the other in reverse
 * order. One that fails or hangs is logged and does not stop the others. Each may take half of the time
 * that is left, so that one that hangs leaves time for those behind it.
 */
export class LifeCycle {
  private readonly parts: Part[] = [];
  private readonly begun = new Set<Part>();
  private readonly stopping = new AbortController();
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly stopLimit = STOP_LIMIT,
  ) {}

  /**
   * Registers parts: they start after, and stop before, all that were registered earlier.
   * @throws when a name is registered already, since logs and operators identify parts by it
   */
  add(...parts: readonly Part[]): void {
    for (const part of parts) {
      if (this.names.includes(part.name)) throw new Error(`part "${part.name}" is registered twice`);
      this.parts.push(part);
    }
  }

  /** The names of all parts, in the order in which they start. */
  get names(): readonly string[] {
    return this.parts.map(({ name }) => name);
  }

  /**
   * Starts every part. When one fails, those before it are stopped again, in reverse order, and this rejects with its error;
   * when `stop` is called meanwhile, with an AbortError. To be called once.
   */
  async start(): Promise<void> {
    this.logger.debug({ parts: this.names }, 'starting in this order; stopping in reverse order');
    const { signal } = this.stopping;
    const aborted = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    aborted.catch(() => {});
    try {
      for (const part of this.parts) {
        signal.throwIfAborted();
        this.begun.add(part);
        await Promise.race([part.start?.(signal), aborted]);
      }
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Stops everything that runs, and a start under way. Never rejects; idempotent. */
  stop(): Promise<void> {
    return (this.stopped ??= this.stopAll());
  }

  private async stopAll(): Promise<void> {
    this.stopping.abort();
    const end = this.clock.steady() + this.stopLimit;
    const running = this.parts.filter((part) => !part.start || this.begun.has(part));
    for (const part of running.reverse()) {
      try {
        await this.within((end - this.clock.steady()) / 2, part);
      } catch (error) {
        this.logger.error({ part: part.name, error }, 'cannot stop a part; stopping the others');
      }
    }
  }

  private within(milliseconds: number, part: Part): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.after(milliseconds, () => reject(new StopTimeoutError(milliseconds)));
      const ended = async (): Promise<void> => part.stop?.();
      ended()
        .finally(() => timer.cancel())
        .then(resolve, reject);
    });
  }
}
