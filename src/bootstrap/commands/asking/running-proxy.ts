import { hostPort } from '../../../domain/net/address.js';
import { splitHostPort } from '../../configuration/types/listen-address.js';
import { CannotAskError } from './cannot-ask-error.js';

/** How long the proxy may take to answer, in milliseconds. */
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
   * @throws CannotAskError if nobody answers within ten seconds, or the answer is not JSON
   */
  async ask<Answer>(path: string): Promise<Answer> {
    const url = `${this.url}${path}`;
    try {
      const response = await fetch(url, { signal: AbortSignal.timeout(TIMEOUT) });
      return (await response.json()) as Answer;
    } catch (error) {
      const { cause } = error as { readonly cause?: unknown };
      const reason = cause instanceof Error ? cause.message : String(error);
      throw new CannotAskError(
        `no proxy answers at ${url}: ${reason}; check that it is running, with the same --metrics-bind-address`,
        { cause: error },
      );
    }
  }
}
