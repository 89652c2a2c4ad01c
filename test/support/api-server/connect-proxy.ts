import { createServer, type Server } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** An HTTP proxy on 127.0.0.1 that knows CONNECT, and leads wherever it is asked to on to one port of this host. */
export class ConnectProxy {
  /** `host:port` of each CONNECT. */
  readonly asked: string[] = [];
  /** `Proxy-Authorization` of the last CONNECT. */
  authorization: string | undefined;
  /** Requests are accepted and never answered. */
  silent = false;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    port: number,
  ) {
    server.on('connection', (socket) => this.sockets.add(socket));
    server.on('connect', ({ url, headers }, client: Socket) => {
      this.asked.push(url ?? '');
      this.authorization = headers['proxy-authorization'];
      if (this.silent) return;
      const upstream = connect(port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 OK\r\n\r\n');
        upstream.pipe(client).pipe(upstream);
      });
      for (const socket of [upstream, client])
        socket.on('error', () => [upstream, client].forEach((s) => s.destroy()));
    });
  }

  static async start(destination: number): Promise<ConnectProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new ConnectProxy(server, destination);
  }

  /** `127.0.0.1:port`. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }
}
