/** Limits the connections of clients to an HTTP server. */

import type { RequestListener, Server } from 'node:http';
import type { Socket } from 'node:net';
import { isLoopback, parseAddress, type Address } from '../../domain/net/address.js';
import { maskAddress } from '../../domain/net/cidr.js';

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
      pool?.requestStarted(socket);
      response.once('close', () => pool?.requestEnded(socket));
    };
    server.prependListener('request', count);
    // Nothing happened for a while: a computation continues, a client that does not read its answer is disconnected.
    server.on('timeout', (socket) => {
      if (this.pools.get(socket)?.isIdle(socket) || socket.writableLength > 0) socket.destroy();
    });
  }

  private admits(socket: Socket): boolean {
    const source = sourceOf(socket);
    if (source === undefined) return reject(socket);
    const pool = isThisNode(socket) ? this.ownNode : this.elsewhere;
    if (!pool.hasRoom(source)) this.report(source);
    if (!pool.enter(source, socket)) return reject(socket);
    this.pools.set(socket, pool);
    socket.once('close', () => pool.leave(socket));
    return true;
  }
}

function reject(socket: Socket): false {
  // It may be broken already.
  socket.on('error', () => undefined);
  reset(socket);
  return false;
}

function reset(socket: Socket): void {
  socket.resetAndDestroy();
}

/** The addresses of a connection, as Node gives them. */
type Ends = Pick<Socket, 'remoteAddress' | 'localAddress'>;

/** Whether the client came by the loopback interface. The kernel drops packets with such a source that come from elsewhere. */
export function isOverLoopback({ remoteAddress }: Pick<Ends, 'remoteAddress'>): boolean {
  const address = withoutZone(remoteAddress);
  return address !== undefined && isLoopback(address);
}

/**
 * Whether the client is on this node: over loopback, or over another address of the node, which then is at both ends, as when the
 * kubelet probes a pod in the host's network.
 */
export function isThisNode(ends: Ends): boolean {
  const { remoteAddress, localAddress } = ends;
  return isOverLoopback(ends) || (remoteAddress !== undefined && remoteAddress === localAddress);
}

/** Of an IPv6 address, what stands for one client: anybody with a network has 2⁶⁴ addresses. */
const PREFIX = 64;

/** The key for counting a client's connections: its IPv4 address, or the /64 of its IPv6 address. Undefined: it has disconnected. */
export function sourceOf({ remoteAddress }: Pick<Ends, 'remoteAddress'>): string | undefined {
  const address = withoutZone(remoteAddress);
  if (!address) return undefined;
  return address.family === 'IPv4' ? address.text : `${maskAddress(address.text, PREFIX)}/${PREFIX}`;
}

/** Without `%eth0`; IPv4 that is mapped into IPv6 is IPv4. */
function withoutZone(text: string | undefined): Address | undefined {
  return parseAddress(text?.replace(/%.*$/, ''));
}

/**
 * Connections that are open, by their sources. Where there is no room for one more, one without a request in progress is ended for
 * it, the longest unused first: of its own source if that has its most, otherwise of the source that has the most of them.
 */
export class ConnectionPool<Connection> {
  /** The requests in progress of each connection, the longest unused first. */
  private readonly sources = new Map<string, Map<Connection, number>>();
  private readonly sourceOf = new Map<Connection, string>();

  constructor(
    private readonly most: number,
    private readonly mostOfSource: number,
    private readonly end: (connection: Connection) => void,
  ) {}

  /** How many there are. */
  get size(): number {
    return this.sourceOf.size;
  }

  /** Whether it has no request in progress, so that it may be ended for another. */
  isIdle(connection: Connection): boolean {
    return (this.among(connection)?.get(connection) ?? 0) === 0;
  }

  /** Whether one of this source can be taken in without ending another. */
  hasRoom(source: string): boolean {
    return this.size < this.most && (this.sources.get(source)?.size ?? 0) < this.mostOfSource;
  }

  /** Takes a connection in. False where no other could be ended for it. */
  enter(source: string, connection: Connection): boolean {
    if (!this.hasRoom(source) && !this.makeRoom(source)) return false;
    const siblings = this.sources.get(source) ?? new Map<Connection, number>();
    this.sources.set(source, siblings.set(connection, 0));
    this.sourceOf.set(connection, source);
    return true;
  }

  /** The connection has a request. */
  requestStarted(connection: Connection): void {
    const siblings = this.among(connection);
    siblings?.set(connection, siblings.get(connection)! + 1);
  }

  /** The request has its answer. */
  requestEnded(connection: Connection): void {
    const siblings = this.among(connection);
    if (!siblings) return;
    const left = siblings.get(connection)! - 1;
    siblings.delete(connection);
    siblings.set(connection, left);
  }

  /** The connection has ended. Idempotent. */
  leave(connection: Connection): void {
    const source = this.sourceOf.get(connection);
    if (source === undefined) return;
    this.sourceOf.delete(connection);
    const siblings = this.sources.get(source)!;
    siblings.delete(connection);
    if (siblings.size === 0) this.sources.delete(source);
  }

  private makeRoom(source: string): boolean {
    const own = this.sources.get(source);
    if (own && own.size >= this.mostOfSource) return this.endIdle(own);
    const bySize = [...this.sources.values()].sort((a, b) => b.size - a.size);
    return bySize.some((connections) => this.endIdle(connections));
  }

  private endIdle(connections: ReadonlyMap<Connection, number>): boolean {
    for (const [connection, requests] of connections) {
      if (requests > 0) continue;
      this.leave(connection);
      this.end(connection);
      return true;
    }
    return false;
  }

  private among(connection: Connection): Map<Connection, number> | undefined {
    return this.sources.get(this.sourceOf.get(connection) ?? '');
  }
}
