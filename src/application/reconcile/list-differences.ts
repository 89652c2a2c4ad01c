import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { RuleDifference } from '../../domain/reconcile/rule-difference.js';

/** Lines made between two turns of the event loop: a millisecond's work. */
const LINES_AT_ONCE = 256;

/** All of them, made in portions. */
export async function listDifferences(lines: Iterable<RuleDifference>): Promise<readonly RuleDifference[]> {
  const listed: RuleDifference[] = [];
  for (const line of lines) if (listed.push(line) % LINES_AT_ONCE === 0) await yieldToEventLoop();
  return listed;
}
