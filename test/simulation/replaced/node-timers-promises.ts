/** In place of `node:timers/promises`. */
import { world } from '../world/current.js';

export function setTimeout<T>(
  milliseconds?: number,
  value?: T,
  { signal }: { signal?: AbortSignal | undefined } = {},
): Promise<T> {
  return new Promise((resolve, reject) => {
    const aborted = (): void => {
      planned.cancel();
      reject(signal!.reason instanceof Error ? aborting(signal!.reason) : aborting());
    };
    const planned = world.scheduler.after(milliseconds ?? 1, () => {
      signal?.removeEventListener('abort', aborted);
      resolve(value as T);
    });
    if (signal?.aborted) aborted();
    else signal?.addEventListener('abort', aborted, { once: true });
  });
}

export function setImmediate<T>(value?: T): Promise<T> {
  return new Promise((resolve) => world.scheduler.after(0, () => resolve(value as T)));
}

function aborting(cause?: Error): Error {
  return Object.assign(new Error('The operation was aborted', { cause }), {
    name: 'AbortError',
    code: 'ABORT_ERR',
  });
}
