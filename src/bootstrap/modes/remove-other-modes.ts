import { once } from 'node:events';
import { errorMessage } from '../../application/error-message.js';
import type { SyncLoop } from '../../application/sync/sync-loop.js';
import type { Mode, OpenMode } from './open-mode.js';

const KEPT = 'keeping any rules of other modes';

/** What is asked of the sync loops of the mode in force. */
export type StandingLoop = Pick<SyncLoop, 'firstAttempt' | 'verifyNow' | 'complete' | 'keptFor'>;

/**
 * Removes the rules of other modes, our own or kube-proxy's, when those of the present mode stand, and were seen to stand,
 * so that no connection is lost in between; and only when everything could be read, for they may serve what could not.
 * @param stopping aborted when the program ends: until then what cannot be read yet is waited for, and so are connections
 *   to their end. Without it nothing is waited for.
 * @returns what stays, and why, for people
 */
export async function removeOtherModes(
  loops: readonly StandingLoop[],
  modes: readonly Mode[],
  present: OpenMode,
  stopping?: AbortSignal,
): Promise<readonly string[]> {
  const problem = await problemOf(loops);
  if (problem !== undefined) return [`${KEPT}: those of mode ${present.name} are not in place: ${problem}`];
  if (stopping && !stopping.aborted)
    await Promise.race([Promise.all(loops.map((loop) => loop.complete)), once(stopping, 'abort')]);
  if (stopping?.aborted) return [];
  const [unread] = loops.flatMap((loop) => loop.keptFor);
  if (unread !== undefined) return [`${KEPT}: they may serve objects that cannot be read: ${unread}`];
  const left = new Set<string>();
  for (const mode of modes.filter(({ name }) => name !== present.name)) {
    try {
      const signal = stopping ?? AbortSignal.abort();
      for (const problem of await mode.cleanUp({ ...present, signal })) left.add(problem);
    } catch (error) {
      left.add(`cannot remove the rules of mode ${mode.name}: ${errorMessage(error)}`);
    }
  }
  return [...left];
}

/** Why the rules of the present mode cannot be relied on. */
async function problemOf(loops: readonly StandingLoop[]): Promise<string | undefined> {
  const standing = loops.map(async (loop) => (await loop.firstAttempt) ?? loop.verifyNow());
  return (await Promise.all(standing)).find((problem) => problem !== undefined);
}
