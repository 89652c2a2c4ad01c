/** Sockets of the proxy: their interface, how they listen and dial, and their errors. */

import { createSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo, Server } from 'node:net';
import { errorMessage } from '../../application/error-message.js';
import { ownerText } from '../../domain/verdict/conflicts.js';
import { endpointPlace } from '../../domain/model/endpoint.js';
import { NamedError } from '../../domain/model/named-error.js';
import { serviceOf, type Protocol, type ServicePortKey } from '../../domain/model/service-port-name.js';
import { hostPort } from '../../domain/net/address.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { PortClaim } from '../../domain/userspace/proxied-port.js';
import type { EndpointAddress } from '../../domain/userspace/round-robin.js';

/** A port of the proxy behind which the endpoints of one service port are. */
export interface ProxySocket {
  readonly port: number;
  /** Some endpoints are gone: what cannot notice that by itself is ended. */
  endpointsChanged(): void;
  /** Takes no more clients, and frees the port. Called once; never rejects. */
  close(): Promise<void>;
}

/** How long each attempt may take, in milliseconds (docs/internals/spec/userspace.md §3.1). */
const DIAL_TIMEOUTS: readonly number[] = [250, 500, 1_000, 2_000];

interface Dialled<Connection> {
  readonly endpoint: EndpointAddress;
  readonly connection: Connection;
}

/**
 * Connects to an endpoint; when one does not answer, to the next.
 * @param choose the endpoint to try; `afresh` after one that did not answer. What it throws ends the attempts.
 * @throws DialError when all attempts failed
 */
export async function dial<Connection>(
  choose: (afresh: boolean) => EndpointAddress,
  connect: (endpoint: EndpointAddress, timeoutMilliseconds: number) => Promise<Connection>,
): Promise<Dialled<Connection>> {
  const attempts: { endpoint: string; reason: unknown }[] = [];
  for (const timeout of DIAL_TIMEOUTS) {
    const endpoint = choose(attempts.length > 0);
    try {
      return { endpoint, connection: await connect(endpoint, timeout) };
    } catch (reason) {
      attempts.push({ endpoint: endpointPlace(endpoint), reason });
    }
  }
  throw new DialError(attempts);
}

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
  // Without a name to look up, it listens immediately.
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

/** The proxy cannot listen for a service port. */
export class ProxyPortError extends NamedError {
  constructor(where: string, protocol: Protocol, cause: unknown) {
    super(`cannot listen on ${where}/${protocol}: ${reasonOf(cause)}`, { cause });
  }
}

/** There is no such proxy socket. */
export class UnsupportedProtocolError extends NamedError {
  constructor(protocol: Protocol) {
    super(`userspace mode supports TCP and UDP, not ${protocol}: use another mode for this service port`);
  }
}

/** A port of this machine that a service port needs belongs to another one, or to another program. */
export class PortClaimError extends NamedError {
  constructor({ address, port }: PortClaim, protocol: Protocol, reason: string, options?: ErrorOptions) {
    const what = address === undefined ? `node port ${port}` : `local address ${hostPort(address, port)}`;
    super(`${what}/${protocol} is unavailable: ${reason}; not serving it, nor the addresses after it`, {
      ...options,
    });
  }
}

/** Another service port has it. */
export function portTaken(claim: PortClaim, protocol: Protocol, owner: ServicePortKey): PortClaimError {
  return new PortClaimError(claim, protocol, `it ${ownerText({ owner: serviceOf(owner) })}`);
}

/** The system does not give it. */
export function portRefused(claim: PortClaim, protocol: Protocol, cause: unknown): PortClaimError {
  return new PortClaimError(claim, protocol, reasonOf(cause), { cause });
}

/** None of the endpoints that were tried took the connection. */
class DialError extends AggregateError {
  constructor(attempts: readonly { readonly endpoint: string; readonly reason: unknown }[]) {
    const reasons = attempts.map(({ reason }) => reason);
    const shown = attempts.map(({ endpoint, reason }) => `${endpoint}: ${reasonOf(reason)}`);
    super(reasons, `no endpoint accepts the connection (${shown.join('; ')})`);
    this.name = 'DialError';
  }
}

function reasonOf(error: unknown): string {
  const { code } = error as NodeJS.ErrnoException;
  if (code === 'EADDRINUSE') return 'another program has the port';
  if (code === 'EMFILE') return 'too many open files; raise the limit of this process';
  return errorMessage(error);
}
