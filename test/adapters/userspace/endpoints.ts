import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import type { EndpointAddress } from '../../../src/domain/userspace/round-robin.js';

export const HERE = '127.0.0.1';

/** A TCP server on this machine. */
export async function tcpEndpoint(serve: (client: Socket) => void): Promise<Server> {
  const server = createServer({ allowHalfOpen: true }, (client) => {
    client.on('error', () => undefined);
    serve(client);
  });
  server.listen(0, HERE);
  await once(server, 'listening');
  return server;
}

/** Says its name to whoever comes, and ends. */
export function named(name: string): Promise<Server> {
  return tcpEndpoint((client) => client.end(name));
}

/** A UDP server that answers each datagram with its name and the datagram. */
export async function udpEndpoint(name: string): Promise<UdpSocket> {
  const socket = createSocket('udp4');
  socket.on('message', (datagram, from) =>
    socket.send(`${name}:${String(datagram)}`, from.port, from.address),
  );
  socket.bind(0, HERE);
  await once(socket, 'listening');
  return socket;
}

export function addressOf(server: Server | UdpSocket): EndpointAddress {
  return at((server.address() as AddressInfo).port);
}

export function at(port: number): EndpointAddress {
  return { address: HERE, port };
}

/** A port that nobody has at present. */
export async function freePort(): Promise<number> {
  const server = await tcpEndpoint(() => undefined);
  const { port } = addressOf(server);
  server.close();
  await once(server, 'close');
  return port;
}

/** All that is said on a new connection until its end. */
export async function askTcp(port: number): Promise<string> {
  const client = connect(port, HERE);
  let said = '';
  for await (const chunk of client) said += String(chunk);
  return said;
}

/** A UDP client that keeps its socket. */
export class UdpClient {
  private constructor(private readonly socket: UdpSocket) {}

  static async open(port: number): Promise<UdpClient> {
    const socket = createSocket('udp4');
    socket.on('error', () => undefined);
    socket.connect(port, HERE);
    await once(socket, 'connect');
    return new UdpClient(socket);
  }

  send(text: string): void {
    this.socket.send(text);
  }

  async ask(text: string): Promise<string> {
    const answer = once(this.socket, 'message');
    this.send(text);
    const [datagram] = (await answer) as [Buffer];
    return datagram.toString();
  }

  close(): void {
    this.socket.close();
  }
}
