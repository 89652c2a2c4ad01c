import { delay } from '../../application/delay.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { RemainingRules } from '../../application/status/remaining-rules.js';
import { retryDelay } from '../../application/sync/backoff.js';
import type { Leftovers } from './remove-other-modes.js';

/** With what rules of other modes are removed while the program runs. */
export interface CleanUpParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told what is to be tried again. */
  readonly remainingRules: RemainingRules;
}

/**
 * Removes the rules of other modes, and tries again after a back-off, from a second to a minute, while something could not be
 * removed. Takes as long as connections through other modes last.
 * @param remove one attempt; it calls its argument when nothing has failed and it waits for connections
 */
export async function cleanUpOtherModes(
  remove: (waiting: () => void) => Promise<Leftovers>,
  { clock, logger, remainingRules }: CleanUpParts,
  stopping: AbortSignal,
): Promise<void> {
  for (let attempt = 1; !stopping.aborted; attempt++) {
    const { failed, left } = await remove(() => (remainingRules.failures = []));
    for (const problem of left) logger.warn({ problem }, 'rules of other modes remain');
    for (const problem of failed)
      logger.warn({ problem, attempt }, 'rules of other modes remain; will retry');
    remainingRules.failures = failed;
    if (failed.length === 0) return;
    await delay(clock, retryDelay(attempt), stopping);
  }
}
