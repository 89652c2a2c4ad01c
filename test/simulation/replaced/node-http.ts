/** In place of `node:http`: Node's own, over the simulated network. */
import * as real from 'node:http';
import type { Duplex } from 'node:stream';
import { world } from '../world/current.js';
import type { SimulatedSocket } from '../world/simulated-socket.js';
import { Listening } from './node-net.js';

export const {
  IncomingMessage,
  ServerResponse,
  OutgoingMessage,
  ClientRequest,
  Server,
  METHODS,
  STATUS_CODES,
} = real;

/** Connections of a client; of both protocols, since what is simulated is not encrypted. */
export class Agent extends real.Agent {
  readonly protocol: string = 'http:';
  readonly defaultPort: number = 80;

  override createConnection({ host, port }: { host?: string; port?: number }): Duplex {
    return world.network.connect(host ?? '127.0.0.1', Number(port));
  }
}

export const globalAgent = new Agent();

export function request(...parameters: unknown[]): real.ClientRequest {
  return requestBy(Agent, parameters);
}

export function requestBy(kind: new () => real.Agent, parameters: unknown[]): real.ClientRequest {
  const [url, options, answered] = (
    parameters[0] instanceof URL || typeof parameters[0] === 'string'
      ? parameters
      : [undefined, ...parameters]
  ) as [URL | string | undefined, real.RequestOptions, (() => void) | undefined];
  const complete = { ...options, agent: options?.agent instanceof real.Agent ? options.agent : new kind() };
  return url === undefined ? real.request(complete, answered) : real.request(url, complete, answered);
}

export function createServer(...parameters: unknown[]): real.Server {
  const options = parameters.find((value) => typeof value === 'object') as real.ServerOptions | undefined;
  const handler = parameters.find((value) => typeof value === 'function') as real.RequestListener | undefined;
  const server = real.createServer(options ?? {}, handler);
  // It begins to look after its connections by the real clock.
  server.removeAllListeners('listening');
  const listening = new Listening(server, (socket: SimulatedSocket) => server.emit('connection', socket));
  return Object.assign(server, {
    listen(where: object, ...rest: unknown[]) {
      listening.listen(where, rest.find((value) => typeof value === 'function') as (() => void) | undefined);
      return server;
    },
    close(closed?: () => void) {
      listening.close(closed);
      return server;
    },
    address: () => listening.address(),
    closeAllConnections() {
      for (const socket of listening.sockets) socket.destroy();
    },
  });
}

export * as default from './node-http.js';
