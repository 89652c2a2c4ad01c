import { once } from 'node:events';
import { errorMessage } from '../../application/error-message.js';
import { LastingProblem } from '../../application/message-rate.js';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { delay, retryDelay } from '../../application/retries.js';
import type { RemainingRules } from '../../application/status/remaining-rules.js';
import type { SyncLoop } from '../../application/sync/sync-loop.js';
import type { Mode, OpenMode } from './mode.js';

const KEPT = 'keeping any rules of other modes';

/** The required functions of the sync loops of the mode in force. */
export type StandingLoop = Pick<
  SyncLoop,
  'firstAttempt' | 'verifyNow' | 'complete' | 'unreadSources' | 'rejectedPorts'
>;

/** Remaining rules of other modes with the reasons, for people. */
export interface Leftovers {
  /** Failed removals that a retry may complete. */
  readonly failed: readonly string[];
  /** Rules that stay for now, or could not be checked: a retry does not help. */
  readonly left: readonly string[];
}

/** Receives the progress of a removal. */
export interface RemovalProgress {
  /** The rules of the present mode are written, and those of others are about to be looked for. */
  readonly begins: () => void;
  /** Nothing is left but what carries connections, and these are waited for. */
  readonly waits: () => void;
}

const NOTHING: Leftovers = { failed: [], left: [] };

/**
 * Removes the rules of other modes, our own or kube-proxy's, when those of the present mode stand, and were seen to stand,
 * so that no connection is lost in between; and only when everything could be read and nothing is refused, for they may serve
 * what could not be. What the kernel has rejected for ten seconds is not waited for, and what the present mode itself cannot serve not at
 * all: the rules of other modes do not follow changes, and packets of all Services may match them.
 * @param stopping aborted when the program ends: until then it is waited until everything is read and programmed, and so
 *   are connections to their end, unless something failed. Without it nothing is waited for.
 */
export async function removeOtherModes(
  loops: readonly StandingLoop[],
  modes: readonly Mode[],
  present: OpenMode,
  stopping?: AbortSignal,
  progress?: RemovalProgress,
): Promise<Leftovers> {
  if (stopping && !stopping.aborted) await completeOrStopping(loops, stopping);
  if (stopping?.aborted) return NOTHING;
  progress?.begins();
  const problem = await problemOf(loops, stopping !== undefined);
  if (problem !== undefined) return failing(`those of ${present.name} mode are not in place: ${problem}`);
  const [unread] = loops.flatMap((loop) => loop.unreadSources);
  if (unread !== undefined) return failing(`they may serve objects that cannot be read: ${unread}`);
  const [refused] = loops.flatMap((loop) => loop.rejectedPorts);
  if (refused !== undefined) return failing(`they may serve Services that the kernel rejects: ${refused}`);
  const failed: string[] = [];
  const left = new Set<string>();
  for (const mode of modes.filter(({ name }) => name !== present.name)) {
    try {
      const signal = stopping && failed.length === 0 ? stopping : AbortSignal.abort();
      for (const problem of await mode.cleanUp({ ...present, signal, waiting: progress?.waits }))
        left.add(problem);
    } catch (error) {
      failed.push(`cannot remove the rules of ${mode.name} mode: ${errorMessage(error)}`);
    }
  }
  return { failed, left: [...left] };
}

async function completeOrStopping(loops: readonly StandingLoop[], stopping: AbortSignal): Promise<void> {
  const listening = new AbortController();
  const stopped = once(stopping, 'abort', { signal: listening.signal });
  await Promise.race([Promise.all(loops.map((loop) => loop.complete)), stopped]);
  // Each attempt listens: none leaves a listener behind.
  listening.abort();
}

function failing(reason: string): Leftovers {
  return { ...NOTHING, failed: [`${KEPT}: ${reason}`] };
}

/** Why the rules of the present mode cannot be relied on. Where all is complete, it does not matter whether the first attempt failed. */
async function problemOf(loops: readonly StandingLoop[], isComplete: boolean): Promise<string | undefined> {
  const standing = loops.map(
    async (loop) => (isComplete ? undefined : await loop.firstAttempt) ?? loop.verifyNow(),
  );
  return (await Promise.all(standing)).find((problem) => problem !== undefined);
}

const BEGUN = 'checking for rules of other modes: until they are removed, packets may match them';

/** With what rules of other modes are removed while the program runs. */
export interface CleanUpParts {
  readonly clock: Clock;
  readonly logger: Logger;
  /** Receives the current removals, and those to be retried. */
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
  const problems = new LastingProblem();
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
    const level = problems.level([...left, ...failed].join(), 'warn');
    for (const problem of left) logger[level]({ problem }, 'rules of other modes remain');
    for (const problem of failed)
      logger[level]({ problem, attempt }, 'rules of other modes remain; will retry');
    remainingRules.removing = undefined;
    remainingRules.reasons = failed;
    if (failed.length === 0) return;
    await delay(clock, retryDelay(attempt), stopping);
  }
}
