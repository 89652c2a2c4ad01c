/** TCP connections from this process to endpoints. */

import { connect } from 'node:net';
import type { Clock } from '../application/ports/clock.js';
import type { Logger } from '../application/ports/logger.js';
import type {
  AttemptOutcome,
  EndpointConnector,
  NodePortRelay,
  OpenNodePort,
  RelayTarget,
} from '../application/ports/node/endpoint-connections.js';
import { localhostPlace } from '../domain/forwarding/localhost-node-port.js';
import { LOCALHOST } from '../domain/net/address.js';
import type { IpFamily } from '../domain/net/ip-family.js';
import { RoundRobin } from '../domain/userspace/round-robin.js';
import { FloodGuard } from './process/flood-guard.js';
import { ProxyPortError } from './userspace/proxy-socket.js';
import { TcpProxySocket, TcpRelay } from './userspace/tcp-proxy-socket.js';

/** Listens on localhost, and relays connections as userspace mode does. */
export class LocalhostRelay implements NodePortRelay {
  private readonly relay: TcpRelay;

  constructor(
    private readonly clock: Clock,
    private readonly logger: Logger,
  ) {
    this.relay = new TcpRelay(clock);
  }

  /** @throws ProxyPortError */
  async listen(family: IpFamily, port: number, target: RelayTarget): Promise<OpenNodePort> {
    const { clock } = this;
    const endpoints = new RoundRobin(Math.random);
    const serve = ({ endpoints: now, affinitySeconds }: RelayTarget): void => {
      endpoints.stickFor(affinitySeconds);
      endpoints.use(now);
      endpoints.purge(clock.steady());
    };
    serve(target);
    const address = LOCALHOST[family];
    const place = localhostPlace(family, port);
    // Clients retry failed connections: one line a minute reports them, with the number of others.
    const log = FloodGuard.guard({ logger: this.logger.child({ address: place }), clock, burst: 1 });
    try {
      const socket = await TcpProxySocket.open({ family, address, port }, endpoints, this.relay, log);
      return {
        serve,
        close: async () => {
          await socket.close();
          log.close();
        },
      };
    } catch (error) {
      throw new ProxyPortError(place, 'TCP', error);
    }
  }

  /** Ends all connections once received data is written, after a second at most. */
  close(): Promise<void> {
    return this.relay.close();
  }
}

/** Errors that a responding endpoint causes. */
const ANSWERS = new Set(['ECONNREFUSED', 'ECONNRESET']);
/** Errors without a response of the endpoint or its neighbor. */
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
