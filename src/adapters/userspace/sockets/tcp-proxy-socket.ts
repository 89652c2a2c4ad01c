import { createServer, type Server } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Logger } from '../../../application/ports/logger.js';
import type { RoundRobin } from '../../../domain/userspace/round-robin.js';
import { BACKLOG, listenTcp, type ListenOptions } from './listen.js';
import type { ProxySocket } from './proxy-socket.js';
import { TCP_OPTIONS, type TcpRelay } from './tcp-relay.js';

/** The proxy port of a TCP service port. Its connections belong to the relay: they live on when it is closed. */
export class TcpProxySocket implements ProxySocket {
  private taken = 0;

  private constructor(
    private readonly server: Server,
    readonly port: number,
  ) {
    server.on('connection', () => this.taken++);
  }

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

  /** The port is free when it resolves; the server's own callback would wait for its connections. */
  async close(): Promise<void> {
    await this.takeThoseThatWait();
    this.server.close();
  }

  /** The kernel would reset connections that it has made and nobody has taken. Each turn takes one of them, or all. */
  private async takeThoseThatWait(): Promise<void> {
    const most = this.taken + BACKLOG;
    for (let before = -1; before !== this.taken && this.taken < most;) {
      before = this.taken;
      // The first may be of this turn, which has asked the kernel already.
      await turn();
      await turn();
    }
  }
}
