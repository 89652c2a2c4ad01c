import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until the condition holds; an error in it counts as "not yet". Fails with what was waited for. */
export async function until(
  what: string,
  condition: () => Promise<boolean>,
  timeoutMs = 30_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  let last: unknown;
  while (Date.now() < deadline) {
    try {
      if (await condition()) return;
      last = undefined;
    } catch (error) {
      last = error;
    }
    await sleep(20);
  }
  const reason = last instanceof Error ? `:\n${last.message}` : '';
  throw new Error(`waited ${timeoutMs} ms in vain until ${what}${reason}`, { cause: last });
}
