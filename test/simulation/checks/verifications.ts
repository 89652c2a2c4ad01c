import type { Simulation } from '../simulation.js';
import { RETRY_DELAYS } from './retry-delays.js';

/** Milliseconds. */
const SECOND = 1_000;
/** What is logged then. */
export const REMAIN = 'rules of other modes remain; will retry';

/**
 * Whether the rules may be verified just then. Verifications begin with whole seconds; where rules of other modes could not be removed, there is
 * one more before each further attempt, which comes after one second, two, four, up to a minute (src/bootstrap/modes/remove-other-modes.ts).
 * @param time simulated milliseconds
 * @param readsFor how many of them a verification takes at most before it writes
 */
export function mayBeVerified({ world }: Simulation, time: number, readsFor: number): boolean {
  if (time % SECOND < readsFor) return true;
  return world.log.some(({ at, message, facts }) => {
    if (message !== REMAIN) return false;
    const { attempt } = facts as { readonly attempt: number };
    const tried = at + Math.min(2 ** (attempt - 1), RETRY_DELAYS.longest) * SECOND;
    return time >= tried && time < tried + readsFor;
  });
}
