import type { Endpoint } from '../../../domain/model/endpoint.js';

/** What became of an attempt to connect. A refused connection is answered. `impossible`: no attempt could be made. */
export type AttemptOutcome = 'answered' | 'unanswered' | 'impossible';

/** Connects from this node to an endpoint itself, by TCP, to find out whether it answers. */
export interface EndpointConnector {
  /**
   * Tries once, and closes the connection at once. Never rejects.
   * @param milliseconds how long an answer may take
   * @param signal ends the attempt when it is aborted; then it is `impossible`, unless it was over before
   */
  attempt(
    endpoint: Pick<Endpoint, 'address' | 'port'>,
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<AttemptOutcome>;
}
