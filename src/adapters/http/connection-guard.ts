import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { isThisNode, sourceOf } from './client-source.js';
import { ConnectionPool } from './connection-pool.js';

/** How many connections a server keeps, so that clients cannot use up file descriptors, nor keep each other out. */
export interface ConnectionLimits {
  /** From elsewhere, of all sources together. */
  readonly most: number;
  /** Of them from one source. */
  readonly perSource: number;
  /** Besides, from this node itself, such as the kubelet's. */
  readonly ownNode: number;
}

/** Reports that a connection was ended, or not accepted, because its source has too many, or all together. */
export type ReportCrowded = (source: string) => void;

/**
 * Decides about each connection to a server before HTTP sees it. Those that are too many get a reset, which costs neither side a
 * socket that lingers.
 */
export class ConnectionGuard {
  private readonly ownNode: ConnectionPool<Socket>;
  private readonly elsewhere: ConnectionPool<Socket>;
  private readonly pools = new WeakMap<Socket, ConnectionPool<Socket>>();

  constructor(
    { most, perSource, ownNode }: ConnectionLimits,
    private readonly report: ReportCrowded,
  ) {
    this.ownNode = new ConnectionPool(ownNode, ownNode, reset);
    this.elsewhere = new ConnectionPool(most, perSource, reset);
  }

  /** Before the server listens. */
  protect(server: Server): void {
    const serve = server.listeners('connection') as ((socket: Socket) => void)[];
    server.removeAllListeners('connection');
    server.on('connection', (socket: Socket) => {
      if (this.admits(socket)) for (const listener of serve) listener.call(server, socket);
    });
    const count: RequestListener = ({ socket }, response) => {
      const pool = this.pools.get(socket);
      pool?.began(socket);
      response.once('close', () => pool?.finished(socket));
    };
    server.prependListener('request', count);
    // Nothing happened for a while: what is being computed goes on, a client that does not take its answer is not waited for.
    server.on('timeout', (socket) => {
      if (this.pools.get(socket)?.isIdle(socket) || socket.writableLength > 0) socket.destroy();
    });
  }

  private admits(socket: Socket): boolean {
    const source = sourceOf(socket);
    if (source === undefined) return refuse(socket);
    const pool = isThisNode(socket) ? this.ownNode : this.elsewhere;
    if (!pool.hasRoom(source)) this.report(source);
    if (!pool.enter(source, socket)) return refuse(socket);
    this.pools.set(socket, pool);
    socket.once('close', () => pool.leave(socket));
    return true;
  }
}

function refuse(socket: Socket): false {
  // It may be broken already.
  socket.on('error', () => undefined);
  reset(socket);
  return false;
}

function reset(socket: Socket): void {
  socket.resetAndDestroy();
}
