/** A failure to answer requests with. */
export interface Failure {
  readonly status: number;
  readonly reason?: string;
  readonly message?: string;
  /** What is answered instead of a Status of the failure, as JSON. */
  readonly body?: unknown;
  /** Seconds, sent as Retry-After. */
  readonly retryAfter?: number;
  /** How many requests it hits; all until `clear` when not given. */
  readonly times?: number;
  /** Part of the path and query that it hits; all when not given. */
  readonly match?: string;
}

/**
 * How an event of a watch is torn: its frame ends in the middle, as the connection breaks or the watch ends as agreed there; or the frame is
 * whole, and what is in it is not.
 */
export type Tear = 'connection' | 'watch' | 'content';

/** Faults that a stand-in API server is told to have. */
export class Faults {
  /** Milliseconds before each answer. */
  delay = 0;
  /** Whether a version that is too old is answered by HTTP 410 or by an event ERROR inside the watch; servers do both. */
  goneAs: 'status' | 'event' = 'event';
  /** Answers lists with resourceVersion=0 as a whole, as servers do that list from their cache. */
  ignoreLimitAtZero = false;
  /** Objects in a page at most, whatever limit a client asks for; servers may give fewer. */
  largestPage = Infinity;
  /** New watches send nothing. */
  hangNewWatches = false;
  /** New watches that continue from a version end at once, as those of a server that shuts down. */
  endNewWatches = false;
  /** Streamed lists never end. */
  withholdListEnd = false;
  /** How the next events are torn, one each. */
  tears: Tear[] = [];
  /** Refuses a request by its path and query, when none of the failures below hits it. */
  admission: ((url: string) => Failure | undefined) | undefined;
  private failures: { failure: Failure; left: number }[] = [];

  fail(failure: Failure): void {
    this.failures.push({ failure, left: failure.times ?? Infinity });
  }

  clear(): void {
    this.failures = [];
    this.delay = 0;
    this.tears = [];
    this.hangNewWatches = false;
    this.endNewWatches = false;
  }

  /** The failure that hits this request, if any; counts it. */
  take(url: string): Failure | undefined {
    const hit = this.failures.find(
      ({ failure, left }) => left > 0 && decodeURIComponent(url).includes(failure.match ?? ''),
    );
    if (hit) hit.left--;
    return hit?.failure ?? this.admission?.(url);
  }
}
