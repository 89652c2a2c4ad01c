import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';

/** Bytes in both directions, TLS included, headers of TCP and IP not. */
export interface Bytes {
  readonly sent: number;
  readonly received: number;
}

/** The connections of a server and what has passed over them. */
export class Traffic {
  /** TLS handshakes with a signature of the server, and those that resumed an earlier session. */
  readonly handshakes = { full: 0, resumed: 0 };
  private readonly open = new Set<Socket>();
  private sent = 0;
  private received = 0;

  /** Open connections. */
  get connections(): number {
    return this.open.size;
  }

  /** Of all connections since the beginning. */
  get bytes(): Bytes {
    let { sent, received } = this;
    for (const { bytesWritten, bytesRead } of this.open) {
      sent += bytesWritten;
      received += bytesRead;
    }
    return { sent, received };
  }

  connected(socket: Socket): void {
    this.open.add(socket);
    socket.on('close', () => {
      this.open.delete(socket);
      this.sent += socket.bytesWritten;
      this.received += socket.bytesRead;
    });
  }

  secured(socket: TLSSocket): void {
    this.handshakes[socket.isSessionReused() ? 'resumed' : 'full']++;
  }

  /** Closes all connections at once. */
  cut(): void {
    for (const socket of this.open) socket.destroy();
  }
}
