import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { hostPort } from '../../../domain/net/address.js';
import { splitHostPort } from '../../configuration/types/listen-address.js';
import { CannotAskError } from './cannot-ask-error.js';

/** How long the proxy may take to answer most questions, in milliseconds. */
const TIMEOUT = 10_000;

/** The proxy that runs on this node, as its metrics server answers for it. */
export class RunningProxy {
  private constructor(readonly url: string) {}

  /**
   * @param bindAddress where the proxy's metrics server listens
   * @throws CannotAskError if it is turned off
   */
  static at(bindAddress: string): RunningProxy {
    const address = splitHostPort(bindAddress);
    if (!address)
      throw new CannotAskError(
        'a running proxy is asked through its metrics server, which is turned off; set --metrics-bind-address',
      );
    const { host, port } = address;
    const local = { '0.0.0.0': '127.0.0.1', '::': '::1' }[host] ?? host;
    return new RunningProxy(`http://${hostPort(local, Number(port))}`);
  }

  /**
   * The JSON that it answers to a GET of this path, also with a status of 404. The caller vouches for the type.
   * @param timeout in milliseconds
   * @throws CannotAskError if nobody answers in time, or somebody else does
   */
  async ask<Answer>(path: string, timeout = TIMEOUT): Promise<Answer> {
    const url = `${this.url}${path}`;
    let status: number;
    let body: string;
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(timeout) });
      status = response.status;
      body = await response.text();
    } catch (error) {
      throw noAnswer(url, error);
    }
    try {
      return JSON.parse(body) as Answer;
    } catch (error) {
      throw new CannotAskError(
        `${url} answers ${status}: ${body.split('\n', 1)[0]}; check that a proxy of this version is running there`,
        { cause: error },
      );
    }
  }

  /**
   * The JSON values, one a line, that it answers to a GET of this path for as long as it likes. The caller vouches for the type.
   * @param signal ends it, without an error
   * @throws CannotAskError if nobody answers, the proxy refuses, or the answer breaks off
   */
  async *follow<Answer>(path: string, signal: AbortSignal): AsyncGenerator<Answer> {
    const url = `${this.url}${path}`;
    try {
      const response = await fetch(url, { signal });
      if (!response.ok || !response.body)
        throw new CannotAskError(`the proxy at ${url} refuses: ${(await response.text()).trim()}`);
      for await (const line of createInterface({ input: Readable.fromWeb(response.body) }))
        yield JSON.parse(line) as Answer;
    } catch (error) {
      if (signal.aborted) return;
      throw error instanceof CannotAskError ? error : noAnswer(url, error);
    }
  }
}

function noAnswer(url: string, error: unknown): CannotAskError {
  const { cause } = error as { readonly cause?: unknown };
  const reason = cause instanceof Error ? cause.message : String(error);
  return new CannotAskError(
    `no proxy answers at ${url}: ${reason}; check that it is running, with the same --metrics-bind-address`,
    { cause: error },
  );
}
