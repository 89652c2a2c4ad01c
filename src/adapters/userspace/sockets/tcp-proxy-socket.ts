import { createServer, type Server } from 'node:net';
import type { Logger } from '../../../application/ports/logger.js';
import type { RoundRobin } from '../../../domain/userspace/round-robin.js';
import { listenTcp, type ListenOptions } from './listen.js';
import type { ProxySocket } from './proxy-socket.js';
import { TCP_OPTIONS, type TcpRelay } from './tcp-relay.js';

/** The proxy port of a TCP service port. Its connections belong to the relay: they live on when it is closed. */
export class TcpProxySocket implements ProxySocket {
  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {}

  /** Rejects when the port is unavailable. */
  static async open(
    options: ListenOptions,
    endpoints: RoundRobin,
    relay: TcpRelay,
    logger: Logger,
  ): Promise<TcpProxySocket> {
    const server = createServer({ ...TCP_OPTIONS, pauseOnConnect: true }, (client) =>
      relay.take(client, endpoints, logger),
    );
    const port = await listenTcp(server, options);
    server.on('error', (error) => logger.error({ error }, 'cannot accept a client'));
    return new TcpProxySocket(server, port);
  }

  /** Connections notice by themselves. */
  endpointsChanged(): void {}

  /** The port is free at once; the server's own callback would wait for its connections. */
  close(): Promise<void> {
    this.server.close();
    return Promise.resolve();
  }
}
