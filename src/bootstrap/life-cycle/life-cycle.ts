import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';

/** Something that runs until it is stopped. */
export interface Part {
  /** As an operator knows it: `metrics server`. */
  readonly name: string;
  /** Idempotent. Also called when the part never came to run. */
  stop(): Promise<void> | void;
}

/** All parts together, in milliseconds: who asks for the end gets it within five seconds. */
const STOP_LIMIT = 4_000;

/** A part took longer to stop than it may; what it still does is not waited for. */
export class StopTimeoutError extends Error {
  constructor(milliseconds: number) {
    super(`it did not end within ${Math.round(milliseconds)} ms; it is left to end with the process`);
    this.name = 'StopTimeoutError';
  }
}

/**
 * The parts that run, in the order in which they start. They are stopped one after the other in reverse order, each of
 * them whatever became of the others: one that fails or hangs is logged. Each may take half of the time that is left, so
 * that one that hangs leaves time for those that are behind it.
 */
export class LifeCycle {
  private readonly parts: Part[] = [];
  private stopped: Promise<void> | undefined;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
    private readonly stopLimit = STOP_LIMIT,
  ) {}

  /** The part is about to start; it is stopped before all that were added earlier. */
  add(...parts: readonly Part[]): void {
    this.parts.push(...parts);
  }

  /** Stops everything. Never rejects; idempotent. */
  stop(): Promise<void> {
    return (this.stopped ??= this.stopAll());
  }

  private async stopAll(): Promise<void> {
    const end = this.clock.now() + this.stopLimit;
    for (let part = this.parts.pop(); part; part = this.parts.pop()) {
      try {
        await this.within((end - this.clock.now()) / 2, part);
      } catch (error) {
        this.logger.error(
          { part: part.name, error },
          'a part could not be stopped; going on with the others',
        );
      }
    }
  }

  private within(milliseconds: number, part: Part): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = this.clock.after(milliseconds, () => reject(new StopTimeoutError(milliseconds)));
      const ended = async (): Promise<void> => part.stop();
      ended()
        .finally(() => timer.cancel())
        .then(resolve, reject);
    });
  }
}
