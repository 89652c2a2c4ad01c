/**
 * The longest Retry-After that is honoured, so that a wrong one does not stop everything; API servers that reject by priority
 * and fairness ask for at most 32 seconds. Milliseconds.
 */
const LONGEST_WAIT = 60_000;

/**
 * Milliseconds to wait as a server asks for in seconds, in a header Retry-After or a Status, at most a minute. Undefined for
 * anything but seconds: API servers send no dates, and a date would need a clock that agrees with theirs.
 */
export function retryAfterOf(seconds: unknown): number | undefined {
  const number = typeof seconds === 'string' && /^\d+$/.test(seconds.trim()) ? Number(seconds) : seconds;
  return typeof number === 'number' && number >= 0 ? Math.min(number * 1000, LONGEST_WAIT) : undefined;
}
