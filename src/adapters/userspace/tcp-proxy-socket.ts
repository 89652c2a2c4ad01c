import { createServer, type Server, connect, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import type { Logger } from '../../application/ports/logger.js';
import {
  type RoundRobin,
  type EndpointAddress,
  NoEndpointError,
} from '../../domain/userspace/round-robin.js';
import { BACKLOG, listenTcp, type ListenOptions, type ProxySocket, dial } from './proxy-socket.js';
import { finished } from 'node:stream/promises';
import type { Clock } from '../../application/ports/clock.js';

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
    server.on('error', (error) => logger.warn({ error }, 'cannot accept a client'));
    return new TcpProxySocket(server, port);
  }

  /** Connections notice by themselves. */
  endpointsChanged(): void {}

  /** The port is free when it resolves; the server's own callback would wait for its connections. */
  async close(): Promise<void> {
    await this.takeThoseThatWait();
    this.server.close();
  }

  /** The kernel would reset established connections that were not accepted. Each turn accepts one of them, or all. */
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

/** How long what is written already may take to leave when everything ends, in milliseconds. */
const LAST_WORDS = 1_000;
/** Options of every connection, on both sides: a peer that vanished is noticed, small messages are sent immediately. */
const TCP_OPTIONS = {
  allowHalfOpen: true,
  noDelay: true,
  keepAlive: true,
  keepAliveInitialDelay: 15_000,
} as const;

/**
 * Carries TCP connections between clients and endpoints: what comes from one side goes to the other as fast as that
 * takes it. The end of one direction leaves the other open; a failure ends both. Connections outlive the service port
 * that they came by.
 */
export class TcpRelay {
  private readonly carried = new Set<Promise<void>>();
  private readonly sockets = new Set<Socket>();
  private closed = false;

  constructor(private readonly clock: Clock) {}

  /** How many connections there are. */
  get size(): number {
    return this.carried.size;
  }

  /** Takes over a client whose socket is paused. */
  take(client: Socket, endpoints: RoundRobin, logger: Logger): void {
    const carried = this.carry(client, endpoints, logger).finally(() => this.carried.delete(carried));
    this.carried.add(carried);
  }

  /** Ends all connections; what was read is still written, if that does not take long. */
  async close(): Promise<void> {
    this.closed = true;
    for (const socket of this.sockets) {
      if (socket.connecting) socket.destroy();
      else socket.destroySoon();
    }
    const late = this.clock.after(LAST_WORDS, () => {
      for (const socket of this.sockets) socket.destroy();
    });
    await Promise.all(this.carried);
    late.cancel();
  }

  private async carry(client: Socket, endpoints: RoundRobin, logger: Logger): Promise<void> {
    const address = client.remoteAddress;
    let endpoint: Socket | undefined;
    this.keep(client);
    try {
      // A client that is gone already has no address any more.
      if (address === undefined) return;
      const dialled = await dial(
        (afresh) => endpoints.next(address, this.clock.steady(), afresh),
        (to, timeout) => this.connect(to, timeout),
      );
      endpoint = dialled.connection;
      if (client.destroyed || this.closed) return;
      client.pipe(endpoint).pipe(client);
      await Promise.all([finished(client), finished(endpoint)]);
    } catch (error) {
      if (this.closed) return;
      if (endpoint) {
        // Neither side may take what it received for everything that was sent.
        for (const side of [client, endpoint]) side.resetAndDestroy();
        logger.debug({ client: address, error }, 'connection ended by an error');
      } else if (error instanceof NoEndpointError) {
        logger.debug({ client: address }, 'no endpoint for a connection');
      } else {
        logger.warn({ client: address, error }, 'cannot forward a connection');
      }
    } finally {
      client.destroy();
      endpoint?.destroy();
    }
  }

  private connect({ address, port }: EndpointAddress, timeout: number): Promise<Socket> {
    return new Promise((resolve, reject) => {
      if (this.closed) return reject(new Error('the proxy is stopping'));
      const socket = connect({ ...TCP_OPTIONS, host: address, port });
      this.keep(socket);
      const late = this.clock.after(timeout, () => {
        socket.destroy(new Error(`no answer within ${timeout} ms`));
      });
      socket.once('error', reject);
      socket.once('close', () => {
        late.cancel();
        reject(new Error('closed while connecting'));
      });
      socket.once('connect', () => {
        late.cancel();
        resolve(socket);
      });
    });
  }

  /** Failures are handled where bytes are carried; before and after that they need no handling. */
  private keep(socket: Socket): void {
    this.sockets.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.sockets.delete(socket));
  }
}
