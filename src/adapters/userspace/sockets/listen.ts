import { once } from 'node:events';
import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import type { AddressInfo, Server } from 'node:net';
import type { IpFamily } from '../../../domain/net/ip-family.js';

export interface ListenOptions {
  readonly family: IpFamily;
  /** Undefined for every address of the family. */
  readonly address: string | undefined;
  /** 0: the kernel chooses. */
  readonly port: number;
}

/** As many as the kernel lets wait. */
export const BACKLOG = 4096;

/** Starts to listen, and returns the port. Later errors go to the server's own listeners. */
export async function listenTcp(server: Server, { family, address, port }: ListenOptions): Promise<number> {
  const host = address ?? everyAddress(family);
  server.listen({ host, port, backlog: BACKLOG, ipv6Only: family === 'IPv6' });
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
}

/** Opens a UDP socket on a port. Later errors go to the socket's own listeners. */
export async function bindUdp({ family, address, port }: ListenOptions): Promise<UdpSocket> {
  const socket = udpSocket(family);
  // Where there is no name to look up, it listens at once.
  const listening = once(socket, 'listening');
  socket.bind({ address: address ?? everyAddress(family), port });
  await listening;
  return socket;
}

/** A socket that takes addresses as they are: there is no name to be looked up. */
export function udpSocket(family: IpFamily): UdpSocket {
  const isIPv6 = family === 'IPv6';
  return createSocket({
    type: isIPv6 ? 'udp6' : 'udp4',
    ipv6Only: isIPv6,
    lookup: (host, _options, callback) => callback(null, host, isIPv6 ? 6 : 4),
  });
}

function everyAddress(family: IpFamily): string {
  return family === 'IPv6' ? '::' : '0.0.0.0';
}
