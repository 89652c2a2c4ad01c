import { setTimeout as sleep } from 'node:timers/promises';

/** Between two looks at a condition, at least: one that asks somebody, and one that answers at once. Milliseconds. */
const PAUSE = { asked: 50, known: 5 };

/** Thrown by a condition that will not hold any more, as when the program is gone that was to make it so: the wait ends with it. */
export class InVain extends Error {}

/**
 * Waits until the condition holds; an error in it counts as "not yet", unless it is `InVain`. Fails with what was waited for. Looks
 * for half of the time at most: a look may cost what is waited for the processor.
 *
 * The limit only ends a failure. It is far beyond what anything takes, since a machine may be busy with other things for that long.
 */
export async function until(
  what: string,
  condition: () => Promise<boolean> | boolean,
  timeoutMs = 100_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < deadline) {
    const begun = Date.now();
    let pause = PAUSE.known;
    try {
      const answer = condition();
      if (answer instanceof Promise) pause = PAUSE.asked;
      if (await answer) return;
      last = undefined;
    } catch (error) {
      if (error instanceof InVain) throw error;
      last = error;
    }
    await sleep(Math.max(pause, Date.now() - begun));
  }
  const reason = last instanceof Error ? `:\n${last.message}` : '';
  throw new Error(`waited ${timeoutMs} ms in vain until ${what}${reason}`, { cause: last });
}
