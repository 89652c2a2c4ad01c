import { delay } from '../../application/delay.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import type { RemainingRules } from '../../application/status/remaining-rules.js';
import { retryDelay } from '../../application/sync/retries.js';
import type { Leftovers, RemovalProgress } from './remove-other-modes.js';

const BEGUN = 'rules of other modes, to be looked for and removed: until that is done packets may meet some';

/** With what rules of other modes are removed while the program runs. */
export interface CleanUpParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told what is being removed, and what is to be tried again. */
  readonly remainingRules: RemainingRules;
}

/**
 * Removes the rules of other modes, and tries again after a back-off, from a second to a minute, while something could not be
 * removed. Takes as long as connections through other modes last.
 * @param remove one attempt
 */
export async function cleanUpOtherModes(
  remove: (progress: RemovalProgress) => Promise<Leftovers>,
  { clock, logger, remainingRules }: CleanUpParts,
  stopping: AbortSignal,
): Promise<void> {
  for (let attempt = 1; !stopping.aborted; attempt++) {
    const { failed, left } = await remove({
      begins() {
        if (attempt === 1) remainingRules.removing = BEGUN;
      },
      waits() {
        remainingRules.removing = undefined;
        remainingRules.reasons = [];
      },
    });
    for (const problem of left) logger.warn({ problem }, 'rules of other modes remain');
    for (const problem of failed)
      logger.warn({ problem, attempt }, 'rules of other modes remain; will retry');
    remainingRules.removing = undefined;
    remainingRules.reasons = failed;
    if (failed.length === 0) return;
    await delay(clock, retryDelay(attempt), stopping);
  }
}
