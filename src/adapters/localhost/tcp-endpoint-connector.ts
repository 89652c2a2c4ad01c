import { connect } from 'node:net';
import type { AttemptOutcome, EndpointConnector } from '../../application/ports/node/endpoint-connector.js';
import type { Clock } from '../../application/ports/clock.js';

/** Whoever sends these is there. */
const ANSWERS = new Set(['ECONNREFUSED', 'ECONNRESET']);
/** Nobody answered, the neighbor included. */
const SILENCES = new Set(['ETIMEDOUT', 'EHOSTUNREACH', 'EHOSTDOWN', 'ENETUNREACH']);

/** Connects by TCP from this process. */
export class TcpEndpointConnector implements EndpointConnector {
  constructor(private readonly clock: Clock) {}

  attempt(
    { address, port }: { address: string; port: number },
    milliseconds: number,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    return new Promise((resolve) => {
      if (signal.aborted) return resolve('impossible');
      const socket = connect({ host: address, port });
      const end = (outcome: AttemptOutcome): void => {
        late.cancel();
        signal.removeEventListener('abort', aborted);
        socket.destroy();
        resolve(outcome);
      };
      const aborted = (): void => end('impossible');
      const late = this.clock.after(milliseconds, () => end('unanswered'));
      signal.addEventListener('abort', aborted);
      socket.once('connect', () => end('answered'));
      socket.on('error', ({ code = '' }: NodeJS.ErrnoException) =>
        end(ANSWERS.has(code) ? 'answered' : SILENCES.has(code) ? 'unanswered' : 'impossible'),
      );
    });
  }
}
