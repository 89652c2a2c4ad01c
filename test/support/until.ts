import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks at a condition, at least. Milliseconds. */
const PAUSE = 50;

/**
 * Waits until the condition holds; an error in it counts as "not yet". Fails with what was waited for. Looks for half of the time
 * at most: a look may cost what is waited for the processor.
 */
export async function until(
  what: string,
  condition: () => Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < deadline) {
    const begun = Date.now();
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await sleep(Math.max(PAUSE, Date.now() - begun));
  }
  const reason = last instanceof Error ? `:\n${last.message}` : '';
  throw new Error(`waited ${timeoutMs} ms in vain until ${what}${reason}`, { cause: last });
}
