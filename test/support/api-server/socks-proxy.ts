import { once } from 'node:events';
import { connect, createServer, isIPv6, type AddressInfo, type Server, type Socket } from 'node:net';

/** Kinds of addresses in a request (RFC 1928). */
const IPV4 = 1;
const NAME = 3;

/** A proxy of SOCKS 5 on 127.0.0.1 that leads wherever it is asked to on to one port of this host. */
export class SocksProxy {
  /** `host:port` of each connection. */
  readonly asked: string[] = [];
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly port: number,
  ) {
    server.on('connection', (client) => void this.serve(client).catch(() => client.destroy()));
  }

  static async start(destination: number): Promise<SocksProxy> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return new SocksProxy(server, destination);
  }

  /** `127.0.0.1:port`. */
  get address(): string {
    return `127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(client: Socket): Promise<void> {
    this.sockets.add(client);
    await once(client, 'data');
    client.write(Buffer.from([5, 0])); // without a password
    const [request] = (await once(client, 'data')) as [Buffer];
    this.asked.push(destinationIn(request));
    const upstream = connect(this.port, '127.0.0.1');
    for (const socket of [upstream, client]) {
      this.sockets.add(socket);
      socket.on('error', () => [upstream, client].forEach((one) => one.destroy()));
    }
    await once(upstream, 'connect');
    client.write(Buffer.from([5, 0, 0, IPV4, 0, 0, 0, 0, 0, 0]));
    upstream.pipe(client).pipe(upstream);
  }
}

function destinationIn(request: Buffer): string {
  const kind = request[3];
  const address = request.subarray(kind === NAME ? 5 : 4, -2);
  const port = request.readUInt16BE(request.length - 2);
  if (kind === NAME) return `${address}:${port}`;
  if (kind === IPV4) return `${[...address].join('.')}:${port}`;
  const groups = address.toString('hex').replace(/(.{4})(?!$)/g, '$1:');
  const text = groups.replace(/^(0{4}:){7}0{3}1$/, '::1');
  return `${isIPv6(text) ? text : groups}:${port}`;
}
