import type { Clock } from './ports/clock.js';

/** Pauses between the attempts of what is retried. */

/** Milliseconds. */
export interface RetryTimes {
  readonly initial: number;
  readonly maximum: number;
}

const USUAL: RetryTimes = { initial: 1_000, maximum: 60_000 };

/**
 * How long to wait after this many failures in a row, in milliseconds: the initial time, then twice as long each time,
 * up to the maximum. By default from a second to a minute.
 */
export function retryDelay(failures: number, { initial, maximum }: RetryTimes = USUAL): number {
  return Math.min(maximum, initial * 2 ** Math.max(0, failures - 1));
}

/**
 * The same where changes are attempts, too: many in a short time are no reason to wait long.
 * @param lasted since the first of these failures, in milliseconds
 */
export function retryDelayAmongChanges(failures: number, lasted: number): number {
  return Math.min(retryDelay(failures), USUAL.initial + lasted);
}

/** Resolves after the delay, or immediately when the signal is aborted. */
export function delay(clock: Clock, milliseconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      timer.cancel();
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = clock.after(milliseconds, end);
    signal?.addEventListener('abort', end, { once: true });
  });
}

/** The result of work; undefined if it fails, or takes longer than this many milliseconds: then its signal is aborted. Never rejects. */
export async function inTime<Result>(
  clock: Clock,
  milliseconds: number,
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result | undefined> {
  const ended = new AbortController();
  const { signal } = ended;
  const result = await Promise.race([
    work(signal).catch(() => undefined),
    delay(clock, milliseconds, signal).then(() => undefined),
  ]);
  ended.abort();
  return result;
}
