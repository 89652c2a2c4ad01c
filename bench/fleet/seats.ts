import type { Failure } from '../../test/support/api-server/faults.js';

/** As API priority and fairness answers what finds no place, at least at first. Seconds. */
const RETRY_AFTER = 1;

/** Limits how many lists run at once, as an API server does; the others are refused with 429. */
export class Seats {
  private taken = 0;

  constructor(
    private readonly seats: number,
    /** How long a list keeps its seat. Milliseconds. */
    private readonly hold: number,
  ) {}

  /** The refusal of a request; undefined when it may run. */
  refuse(url: string): Failure | undefined {
    if (!isLargeList(url)) return undefined;
    if (this.taken >= this.seats)
      return {
        status: 429,
        reason: 'TooManyRequests',
        message: 'too many requests',
        retryAfter: RETRY_AFTER,
      };
    this.taken++;
    setTimeout(() => this.taken--, this.hold);
    return undefined;
  }
}

function isLargeList(url: string): boolean {
  return (
    /\/(services|endpointslices)\?/.test(url) &&
    (!url.includes('watch=') || url.includes('sendInitialEvents='))
  );
}
