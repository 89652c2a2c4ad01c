/** What stands in place of Node's globals in everything that is simulated: time, chance and the process. */
import { setMaxListeners } from 'node:events';
import { world } from '../world/current.js';
import type { Planned } from '../world/scheduler.js';
import { SimulatedTimer } from './timer.js';
import { simulatedProcess } from './process.js';

const RealDate = globalThis.Date;

class SimulatedDate extends RealDate {
  constructor(...values: [] | [number | string]) {
    super(...((values.length === 0 ? [SimulatedDate.now()] : values) as [number]));
  }

  static override now(): number {
    return Math.floor(world.scheduler.now + world.clockOffset);
  }
}

export { SimulatedDate as Date, simulatedProcess as process };

export const performance = { now: (): number => world.scheduler.now, timeOrigin: 0 };

type Callback = (...values: unknown[]) => void;

export const setTimeout = (run: Callback, milliseconds = 1, ...values: unknown[]): SimulatedTimer =>
  new SimulatedTimer(() => run(...values), Math.max(1, milliseconds), false);
export const setInterval = (run: Callback, milliseconds = 1, ...values: unknown[]): SimulatedTimer =>
  new SimulatedTimer(() => run(...values), Math.max(1, milliseconds), true);
export const clearTimeout = (timer: unknown): void => {
  if (timer instanceof SimulatedTimer) timer.close();
};
export const clearInterval = clearTimeout;
export const setImmediate = (run: Callback, ...values: unknown[]): Planned =>
  world.scheduler.after(0, () => run(...values));
export const clearImmediate = (planned?: Planned): void => planned?.cancel();

/** In place of Math.random. */
export const __random = (): number => world.random.next();

/** In place of AbortSignal.timeout. */
export function __abortTimeout(milliseconds: number): AbortSignal {
  const controller = new AbortController();
  const late = new DOMException('The operation was aborted due to timeout', 'TimeoutError');
  setTimeout(() => controller.abort(late), milliseconds);
  return controller.signal;
}

/** In place of AbortSignal.any, whose signals Node keeps as long as somebody listens: a process that was killed always does. */
export function __abortAny(signals: readonly AbortSignal[]): AbortSignal {
  const controller = new AbortController();
  for (const signal of signals) {
    const abort = (): void => controller.abort(signal.reason);
    setMaxListeners(0, signal);
    if (signal.aborted) abort();
    else signal.addEventListener('abort', abort, { once: true });
  }
  return controller.signal;
}
