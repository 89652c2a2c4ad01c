import { connect, type Socket } from 'node:net';
import { until } from '../until.js';

/** Connections that begin a request and never end it. */
export class HalfOpen {
  /** Those that are closed. */
  closed = 0;
  private readonly sockets: Socket[] = [];

  /** Resolves when the connections stand, as far as this end knows. */
  async open(port: number, count: number): Promise<void> {
    const opened = Array.from({ length: count }, () => {
      const socket = connect(port, '127.0.0.1');
      this.sockets.push(socket);
      socket.on('error', () => {});
      socket.on('close', () => this.closed++);
      socket.resume();
      socket.write('GET / HTTP/1.1\r\nHost: node\r\n');
      return new Promise((resolve) => socket.once('connect', resolve));
    });
    await Promise.all(opened);
  }

  /** Waits until so many are closed. */
  async untilClosed(count: number): Promise<void> {
    await until(`${count} are closed`, () => this.closed === count);
  }

  close(): void {
    for (const socket of this.sockets) socket.destroy();
  }
}
