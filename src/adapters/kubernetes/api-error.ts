/** However long a server asks to wait, so that a wrong number does not stop everything. Milliseconds. */
const LONGEST_WAIT = 30_000;

/** The API server answered a request with a failure (`Status` object, or any answer that is not 2xx). */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  /** Milliseconds that the server asked to wait (Retry-After), at most 30,000. */
  readonly retryAfter: number | undefined;

  constructor(
    readonly request: string,
    /** HTTP status code, or the `code` of a `Status` inside a watch. */
    readonly code: number,
    /** `reason` of the `Status`, "" when the answer held none. */
    readonly reason: string,
    detail: string,
    /** Milliseconds. */
    retryAfter?: number,
  ) {
    super(
      `${request}: the API server answered ${code}${reason ? ` ${reason}` : ''}${detail ? `: ${detail}` : ''}`,
    );
    this.retryAfter = retryAfter === undefined ? undefined : Math.min(retryAfter, LONGEST_WAIT);
  }

  /** The resourceVersion or continue token is older than what the server still remembers. */
  get expired(): boolean {
    return this.code === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }

  /** The resourceVersion is newer than what the server knows: another server, or its storage was restored. */
  get fromTheFuture(): boolean {
    return this.code === 504 && /too large resource version/i.test(this.message);
  }
}

/** The API server could not be reached, or the connection broke or fell silent. */
export class ApiConnectionError extends Error {
  override readonly name: string = 'ApiConnectionError';

  constructor(
    readonly request: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`${request}: ${problem}`, options);
  }
}

/** Nothing came over a connection for a while. */
export class ApiSilenceError extends ApiConnectionError {
  override readonly name = 'ApiSilenceError';

  constructor(request: string, milliseconds: number) {
    super(request, `nothing came for ${milliseconds} ms, the connection hangs`);
  }
}

/** The API server sent something that is not what its protocol says. */
export class ApiProtocolError extends Error {
  override readonly name = 'ApiProtocolError';

  constructor(
    readonly request: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`${request}: ${problem}`, options);
  }
}
