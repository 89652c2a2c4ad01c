const FIRST_DELAY = 1_000;
const LONGEST_DELAY = 60_000;

/** How long to wait before try number `attempts` + 1: one second, then twice as long each time, at most a minute. */
export function retryDelay(attempts: number): number {
  return Math.min(LONGEST_DELAY, FIRST_DELAY * 2 ** Math.max(0, attempts - 1));
}
