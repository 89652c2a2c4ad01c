/** Queries to the proxy that runs on this node, through its metrics server. */

import { AnswerError, parseAnswer } from '../../application/parse-answer.js';
import { LARGEST_RESPONSE } from '../../../adapters/http/largest-response.js';
import type { Shape } from '../../../domain/shape.js';
import { cutText } from '../../../application/cut-text.js';
import { hostPort } from '../../../domain/net/address.js';
import { splitHostPort } from '../../../domain/net/listen-address.js';
import { NamedError } from '../../../domain/model/named-error.js';

/** How long the proxy may take to answer most questions, in milliseconds. */
const TIMEOUT = 10_000;

/** How long it may take to compare everything: reading 100,000 Services with the iptables tools takes half of that, and changes come first. */
export const COMPARISON = 60_000;

/** Characters that are shown of an unknown answer. */
const SHOWN = 200;

const ADVICE = 'check that a proxy of this version is running there';

/** The proxy that runs on this node, as its metrics server answers for it. Nothing that answers there is trusted to be one. */
export class RunningProxy {
  private constructor(readonly url: string) {}

  /**
   * @param bindAddress where the proxy's metrics server listens
   * @throws QueryError if it is turned off
   */
  static at(bindAddress: string): RunningProxy {
    const address = splitHostPort(bindAddress);
    if (!address)
      throw new QueryError('the metrics server of the proxy is turned off; set --metrics-bind-address');
    const { host, port } = address;
    const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
    return new RunningProxy(`http://${hostPort(local, Number(port))}`);
  }

  /**
   * The JSON that it answers to a GET of this path, also with a status of 404.
   * @param timeout for the whole answer, in milliseconds
   * @throws QueryError if there is no answer in time, or it is too large or not that of a proxy
   */
  async query<Answer>(path: string, shape: Shape<Answer>, timeout = TIMEOUT): Promise<Answer> {
    const { place, status, body } = await this.get(path, timeout);
    try {
      return parseAnswer(body, shape);
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error;
      const said = cutText(body.split('\n', 1)[0]!, SHOWN);
      throw new QueryError(
        `${place} answers ${status} as no proxy does, ${error.message}: ${said || '(nothing)'}; ${ADVICE}`,
        { cause: error },
      );
    }
  }

  /**
   * The text that it answers to a GET of this path.
   * @param timeout for the whole answer, in milliseconds
   * @throws QueryError as `query`, and unless the status is 200
   */
  async text(path: string, timeout = TIMEOUT): Promise<string> {
    const { place, status, body } = await this.get(path, timeout);
    if (status === 200) return body;
    throw new QueryError(`${place} answers ${status}: ${cutText(body.trim(), SHOWN)}; ${ADVICE}`);
  }

  /**
   * The JSON values, one a line, that it answers to a GET of this path for as long as it likes.
   * @param silence milliseconds within which each value comes
   * @param signal ends it, without an error
   * @throws QueryError without an answer, if the proxy rejects the request, a value is invalid, or the answer breaks off
   */
  async *follow<Answer>(
    path: string,
    shape: Shape<Answer>,
    silence: number,
    signal: AbortSignal,
  ): AsyncGenerator<Answer> {
    const place = this.placeOf(path);
    const silent = new AbortController();
    const expire = (milliseconds: number): NodeJS.Timeout =>
      setTimeout(() => silent.abort(new Error(`nothing within ${milliseconds / 1_000} s`)), milliseconds);
    let timer = expire(Math.min(TIMEOUT, silence));
    try {
      const response = await this.fetch(path, AbortSignal.any([signal, silent.signal]));
      clearTimeout(timer);
      timer = expire(silence);
      if (!response.ok || !response.body)
        throw new QueryError(
          `the proxy at ${place} rejects the request: ${cutText((await bodyOf(response)).trim(), SHOWN)}`,
        );
      for await (const line of limitedLines(response.body, LARGEST_RESPONSE)) {
        clearTimeout(timer);
        yield parseAnswer(line, shape);
        timer = expire(silence);
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof AnswerError)
        throw new QueryError(`${place} answers as no proxy does, ${error.message}; ${ADVICE}`, {
          cause: error,
        });
      throw error instanceof QueryError ? error : noAnswer(place, error);
    } finally {
      clearTimeout(timer);
    }
  }

  private async get(
    path: string,
    timeout: number,
  ): Promise<{ readonly place: string; readonly status: number; readonly body: string }> {
    const place = this.placeOf(path);
    try {
      const response = await this.fetch(path, AbortSignal.timeout(timeout));
      return { place, status: response.status, body: await bodyOf(response) };
    } catch (error) {
      throw noAnswer(place, error);
    }
  }

  private fetch(path: string, signal: AbortSignal): Promise<Response> {
    return fetch(`${this.url}${path}`, { redirect: 'manual', signal });
  }

  /** Without the query, which may be long. */
  private placeOf(path: string): string {
    return `${this.url}${path.split('?', 1)[0]}`;
  }
}

/** @throws when it is too large, or breaks off */
async function bodyOf(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let [body, size] = ['', 0];
  for await (const piece of response.body ?? []) {
    size += piece.length;
    if (size > LARGEST_RESPONSE) throw new Error(`the answer has more than ${LARGEST_RESPONSE} bytes`);
    body += decoder.decode(piece, { stream: true });
  }
  return body;
}

function noAnswer(place: string, error: unknown): QueryError {
  const { cause } = error as { readonly cause?: unknown };
  const { name, message } = (cause instanceof Error ? cause : error) as Error;
  const reason = name === 'TimeoutError' ? 'no answer in time' : message;
  return new QueryError(
    `no proxy answers at ${place}: ${reason}; check that it is running, with the same --metrics-bind-address`,
    { cause: error },
  );
}

/** No running proxy is reachable. The program exits with 3. */
export class QueryError extends NamedError {}

/** A line has no end where one is due. */
class LineTooLongError extends NamedError {
  constructor(longest: number) {
    super(`a line has more than ${longest} characters`);
  }
}

/**
 * The lines of a text in UTF-8, without their ends, as they come.
 * @param longest characters of a line; many more are never kept
 * @throws LineTooLongError, and what the source throws
 */
export async function* limitedLines(
  source: AsyncIterable<Uint8Array>,
  longest: number,
): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let begun = '';
  for await (const piece of source) {
    const [end = '', ...next] = decoder.decode(piece, { stream: true }).split('\n');
    begun += end;
    for (const line of next) {
      yield withoutReturn(begun);
      begun = line;
    }
    if (begun.length > longest) throw new LineTooLongError(longest);
  }
  if (begun !== '') yield withoutReturn(begun);
}

function withoutReturn(line: string): string {
  return line.endsWith('\r') ? line.slice(0, -1) : line;
}
