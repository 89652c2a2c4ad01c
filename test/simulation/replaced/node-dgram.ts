/** In place of `node:dgram`: sockets that can be bound, so that ports are taken; no datagram travels in a simulated world. */
import { EventEmitter } from 'node:events';
import { world } from '../world/current.js';

export class Socket extends EventEmitter {
  private bound: { address: string; port: number } | undefined;
  private isClosed = false;

  constructor(private readonly family: string) {
    super();
  }

  bind(where: { address?: string; port?: number } | number, bound?: () => void): this {
    const { address = '0.0.0.0', port = 0 } = typeof where === 'number' ? { port: where } : where;
    const taken = world.datagramPorts.take(this.family, port, world.scheduler.owner);
    if (bound) this.once('listening', bound);
    world.scheduler.after(0, () => {
      if (taken === undefined)
        this.emit(
          'error',
          Object.assign(new Error(`bind EADDRINUSE ${address}:${port}`), {
            code: 'EADDRINUSE',
            syscall: 'bind',
          }),
        );
      else this.emit('listening');
    });
    if (taken !== undefined) this.bound = { address, port: taken };
    return this;
  }

  address(): { address: string; port: number; family: string } {
    return { address: this.bound?.address ?? '0.0.0.0', port: this.bound?.port ?? 0, family: 'IPv4' };
  }

  close(closed?: () => void): this {
    if (this.isClosed) return this;
    this.isClosed = true;
    if (this.bound) world.datagramPorts.release(this.family, this.bound.port);
    if (closed) this.once('close', closed);
    world.scheduler.after(0, () => this.emit('close'));
    return this;
  }
}

export const createSocket = (of: string | { readonly type: string }): Socket =>
  new Socket(typeof of === 'string' ? of : of.type);
export * as default from './node-dgram.js';
