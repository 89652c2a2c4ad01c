/** In place of `node:net`. */
import { EventEmitter } from 'node:events';
import * as real from 'node:net';
import { world } from '../world/current.js';
import type { Listener } from '../world/network.js';
import { SimulatedSocket } from '../world/simulated-socket.js';

export const { isIP, isIPv4, isIPv6 } = real;
export { SimulatedSocket as Socket };

interface Where {
  readonly port?: number;
  readonly host?: string;
}

/** Listens on the simulated network; mixed into servers of TCP and of HTTP. */
export class Listening {
  readonly sockets = new Set<SimulatedSocket>();
  port: number | undefined;
  private host = '';
  private listener: Listener | undefined;

  /** @param accept gets each connection */
  constructor(
    private readonly emitter: EventEmitter,
    private readonly accept: (socket: SimulatedSocket) => void,
  ) {}

  listen(where: Where | number, listening?: () => void): void {
    const { port = 0, host } = typeof where === 'number' ? { port: where } : where;
    const listener: Listener = {
      owner: world.scheduler.owner,
      accept: (socket) => {
        this.sockets.add(socket);
        socket.once('close', () => this.sockets.delete(socket));
        this.accept(socket);
      },
    };
    if (listening) this.emitter.once('listening', listening);
    this.host = host ?? '';
    const taken = world.network.listen(host ?? '', port, listener);
    world.scheduler.after(0, () => {
      if (taken === undefined)
        this.emitter.emit(
          'error',
          Object.assign(new Error(`listen EADDRINUSE: address already in use ${host ?? '::'}:${port}`), {
            code: 'EADDRINUSE',
            syscall: 'listen',
            port,
          }),
        );
      else this.emitter.emit('listening');
    });
    if (taken === undefined) return;
    this.listener = listener;
    this.port = taken;
  }

  close(closed?: (error?: Error) => void): void {
    if (this.listener && this.port !== undefined) world.network.unlisten(this.host, this.port, this.listener);
    const isOpen = this.listener !== undefined;
    this.listener = undefined;
    const end = (): void => {
      closed?.(isOpen ? undefined : new Error('Server is not running.'));
      this.emitter.emit('close');
    };
    if (this.sockets.size === 0) {
      world.scheduler.after(0, end);
      return;
    }
    let left = this.sockets.size;
    for (const socket of this.sockets) socket.once('close', () => --left === 0 && end());
  }

  address(): { address: string; port: number; family: string } | null {
    return this.listener ? { address: '127.0.0.1', port: this.port!, family: 'IPv4' } : null;
  }
}

class SimulatedServer extends EventEmitter {
  private readonly listening = new Listening(this, (socket) => this.emit('connection', socket));

  listen(where: Where | number, ...rest: unknown[]): this {
    this.listening.listen(
      where,
      rest.find((value) => typeof value === 'function') as (() => void) | undefined,
    );
    return this;
  }

  close(closed?: () => void): this {
    this.listening.close(closed);
    return this;
  }

  address() {
    return this.listening.address();
  }
}

export { SimulatedServer as Server };

export function createServer(...parameters: unknown[]): SimulatedServer {
  const server = new SimulatedServer();
  const accept = parameters.find((value) => typeof value === 'function') as
    | ((socket: unknown) => void)
    | undefined;
  if (accept) server.on('connection', accept);
  return server;
}

export function connect(where: Where | number, ...rest: unknown[]): SimulatedSocket {
  const { port = 0, host = '127.0.0.1' } = typeof where === 'number' ? { port: where } : where;
  const socket = world.network.connect(host, port);
  const connected = rest.find((value) => typeof value === 'function') as (() => void) | undefined;
  if (connected) socket.once('connect', connected);
  return socket;
}
export const createConnection = connect;

export * as default from './node-net.js';
