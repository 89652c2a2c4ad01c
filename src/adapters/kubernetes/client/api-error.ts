/** Errors of requests to the API server. */

import { cutText } from '../../../application/cut-text.js';
import { NamedError } from '../../../domain/model/named-error.js';

/** The API server rejected a request (`Status` object, or any status code other than 2xx). */
export class ApiError extends NamedError {
  /** Code, reason and message, without the request: `403 Forbidden: …`. A long one is cut. */
  readonly detail: string;

  constructor(
    readonly request: string,
    /** HTTP status code, or the `code` of a `Status` inside a watch. */
    readonly code: number,
    /** `reason` of the `Status`; "" without one. */
    readonly reason: string,
    problem: string,
    /** Milliseconds to wait, as requested by the server (`retryAfterOf`). */
    readonly retryAfter?: number,
  ) {
    const detail = cutText(`${code}${reason ? ` ${reason}` : ''}${problem ? `: ${problem}` : ''}`);
    super(`${request}: the API server responded with ${detail}`);
    this.detail = detail;
  }

  /** The server no longer remembers the resourceVersion or continue token. */
  get expired(): boolean {
    return this.code === 410 || this.reason === 'Expired' || this.reason === 'Gone';
  }

  /** The server does not have the resourceVersion yet: it is another server, or its storage was restored. */
  get fromTheFuture(): boolean {
    return this.code === 504 && /too large resource version/i.test(this.message);
  }
}

/** A request that came to no answer. */
class RequestError extends NamedError {
  constructor(
    readonly request: string,
    problem: string,
    options?: ErrorOptions,
  ) {
    super(`${request}: ${cutText(problem)}`, options);
  }
}

/** The API server is unreachable, or the connection broke or fell silent. */
export class ApiConnectionError extends RequestError {}

/** A connection received no data for a while. */
export class ApiSilenceError extends ApiConnectionError {
  constructor(request: string, milliseconds: number) {
    super(request, `no data for ${milliseconds} ms; the connection hangs`);
  }
}

/** The API server violated its protocol. */
export class ApiProtocolError extends RequestError {}

/**
 * The server ended a watch as soon as it had begun, without an event, as one does that shuts down, or that a balancer has no other
 * for. It does not concern the watched objects.
 */
export class ApiShortWatchError extends RequestError {
  constructor(request: string) {
    super(request, 'the server ended the watch immediately');
  }
}

/** The error that ended an exchange, as ApiConnectionError; the reason of an abort stays. */
export function asConnectionError(error: Error, name: string): Error {
  if (error instanceof ApiConnectionError || error.name === 'AbortError') return error;
  const { code } = error as NodeJS.ErrnoException;
  const message = error.message || (error as AggregateError).errors?.map(String).join(', ') || 'failed';
  return new ApiConnectionError(name, code && !message.includes(code) ? `${message} (${code})` : message, {
    cause: error,
  });
}

/**
 * The longest Retry-After that is honoured, so that a wrong one does not stop everything; API servers that reject by priority
 * and fairness requests at most 32 seconds. Milliseconds.
 */
const LONGEST_WAIT = 60_000;

/**
 * Milliseconds to wait, as requested by a server in seconds, in a header Retry-After or a Status, at most a minute. Undefined for
 * anything but seconds: API servers send no dates, and a date would need a clock that agrees with theirs.
 */
export function retryAfterOf(seconds: unknown): number | undefined {
  const number = typeof seconds === 'string' && /^\d+$/.test(seconds.trim()) ? Number(seconds) : seconds;
  return typeof number === 'number' && number >= 0 ? Math.min(number * 1000, LONGEST_WAIT) : undefined;
}
