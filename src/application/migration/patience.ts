import { delay } from '../delay.js';
import { errorMessage } from '../error-message.js';
import type { Clock } from '../ports/clock.js';
import { NamedError } from '../../domain/model/named-error.js';

/** What was waited for did not come in time. */
class WaitError extends NamedError {}

/** Between two looks. Milliseconds. */
const PAUSE = 1_000;

/** Waits by looking again and again. */
export class Patience {
  /** @param timeout milliseconds for each thing that is waited for */
  constructor(
    private readonly clock: Clock,
    private readonly timeout: number,
  ) {}

  /**
   * Tries until nothing stands against it; what a try throws does.
   * @param attempt answers what stands against it, or undefined
   * @throws WaitError with what stood against it last, and the signal's reason when it is aborted
   */
  async until(what: string, attempt: () => Promise<string | undefined>, signal: AbortSignal): Promise<void> {
    const end = this.clock.steady() + this.timeout;
    for (;;) {
      signal.throwIfAborted();
      const problem = await attempt().catch(errorMessage);
      signal.throwIfAborted();
      if (problem === undefined) return;
      if (this.clock.steady() >= end)
        throw new WaitError(`${what} within ${this.timeout / 1000} s: ${problem}`);
      await delay(this.clock, PAUSE, signal);
    }
  }
}
