import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';
import type { DifferenceLines } from '../ports/driver/abilities.js';

/** Steps between two turns of the event loop: a millisecond or two. */
const STEPS_AT_ONCE = 128;

/** All of them, made in portions. @throws the signal's reason when it is aborted */
export async function listDifferences(
  lines: DifferenceLines,
  signal?: AbortSignal,
): Promise<readonly RuleDifference[]> {
  const listed: RuleDifference[] = [];
  let steps = 0;
  for (const line of lines) {
    if (line) listed.push(line);
    if (++steps % STEPS_AT_ONCE !== 0) continue;
    await yieldToEventLoop();
    signal?.throwIfAborted();
  }
  return listed;
}
