import type { RemoteInfo, Socket } from 'node:dgram';
import type { Logger } from '../../application/ports/logger.js';
import { endpointPlace } from '../../domain/model/endpoint.js';
import {
  type RoundRobin,
  type EndpointAddress,
  NoEndpointError,
} from '../../domain/userspace/round-robin.js';
import { bindUdp, type ListenOptions, type ProxySocket, dial, udpSocket } from './proxy-socket.js';
import { once } from 'node:events';
import type { Clock, Timer } from '../../application/ports/clock.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/**
 * The proxy port of a UDP service port: a flow for each client (address and port), which has an endpoint as long as
 * datagrams pass. Flows of endpoints that are gone end, so that the client's next datagram goes to another; so do
 * all when the port is closed, since answers leave through it.
 */
export class UdpProxySocket implements ProxySocket {
  private readonly flows = new Map<string, UdpFlow>();

  private constructor(
    private readonly socket: Socket,
    private readonly listen: ListenOptions,
    private readonly endpoints: RoundRobin,
    private readonly options: UdpOptions,
    private readonly logger: Logger,
  ) {
    socket.on('message', (datagram, client) => this.received(datagram, client));
    socket.on('error', (error) => logger.warn({ error }, 'UDP proxy socket failed'));
  }

  /** Rejects when the port is unavailable. */
  static async open(
    listen: ListenOptions,
    endpoints: RoundRobin,
    options: UdpOptions,
    logger: Logger,
  ): Promise<UdpProxySocket> {
    return new UdpProxySocket(await bindUdp(listen), listen, endpoints, options, logger);
  }

  get port(): number {
    return this.socket.address().port;
  }

  /** How many flows there are. */
  get size(): number {
    return this.flows.size;
  }

  endpointsChanged(): void {
    for (const flow of this.flows.values())
      if (flow.endpoint && !this.endpoints.has(endpointPlace(flow.endpoint))) flow.end();
  }

  close(): Promise<void> {
    for (const flow of this.flows.values()) flow.end();
    this.socket.close();
    return Promise.resolve();
  }

  private received(datagram: Buffer, { address, port }: RemoteInfo): void {
    const client = `${address} ${port}`;
    let flow = this.flows.get(client);
    if (!flow) {
      flow = new UdpFlow(this.listen.family, address, this.endpoints, this.options, this.logger, {
        answer: (reply) => send(this.socket, reply, () => undefined, { address, port }),
        ended: () => this.flows.delete(client),
      });
      this.flows.set(client, flow);
    }
    flow.send(datagram);
  }
}

export interface UdpOptions {
  readonly clock: Clock;
  /** A flow without a datagram in either direction ends after so many milliseconds. */
  readonly idleTimeout: number;
}

/** Datagrams that wait for the socket to be ready; it takes a moment. */
const MOST_WAITING = 16;

interface FlowListener {
  answer(datagram: Buffer): void;
  ended(): void;
}

/**
 * The datagrams between one client and the endpoint that it was given. The flow connects with its first datagram, which
 * waits until it is open; then they pass both ways, and each puts off the end. It ends when none has passed for the idle
 * timeout, when the endpoint rejects, when there is none, or when it is closed.
 */
class UdpFlow {
  private state: 'connecting' | 'open' | 'ended' = 'connecting';
  private readonly waiting: Buffer[] = [];
  private socket: Socket | undefined;
  private to: EndpointAddress | undefined;
  private timer: Timer | undefined;
  private usedAt = 0;

  constructor(
    private readonly family: IpFamily,
    private readonly client: string,
    private readonly endpoints: RoundRobin,
    private readonly options: UdpOptions,
    private readonly logger: Logger,
    private readonly listener: FlowListener,
  ) {
    void this.connect();
  }

  /** Undefined until it is connected. */
  get endpoint(): EndpointAddress | undefined {
    return this.to;
  }

  /** Passes a datagram of the client on. */
  send(datagram: Buffer): void {
    if (this.state === 'connecting') {
      if (this.waiting.length < MOST_WAITING) this.waiting.push(datagram);
    } else if (this.state === 'open') {
      this.used();
      send(this.socket!, datagram, (error) => this.brokeOff(error));
    }
  }

  /** Idempotent. */
  end(): void {
    if (this.state === 'ended') return;
    this.state = 'ended';
    this.timer?.cancel();
    this.socket?.close();
    this.listener.ended();
  }

  private async connect(): Promise<void> {
    try {
      const { endpoint, connection } = await dial(
        (afresh) => this.endpoints.next(this.client, this.options.clock.steady(), afresh),
        (to) => connectUdp(this.family, to),
      );
      if (this.isEnded()) return void connection.close();
      this.open(endpoint, connection);
    } catch (error) {
      if (!this.isEnded() && !(error instanceof NoEndpointError))
        this.logger.warn({ client: this.client, error }, 'cannot forward a datagram');
      this.end();
    }
  }

  private open(endpoint: EndpointAddress, socket: Socket): void {
    this.state = 'open';
    this.to = endpoint;
    this.socket = socket;
    socket.on('message', (datagram) => {
      this.used();
      this.listener.answer(datagram);
    });
    socket.on('error', (error) => this.brokeOff(error));
    this.used();
    this.endWhenIdle(this.options.idleTimeout);
    for (const datagram of this.waiting.splice(0)) this.send(datagram);
  }

  /** Refused, as a rule. */
  private brokeOff(error: Error): void {
    if (this.isEnded()) return;
    this.logger.debug(
      { client: this.client, endpoint: this.to && endpointPlace(this.to), error },
      'UDP flow ended by an error',
    );
    this.endpoints.letGo(this.client);
    this.end();
  }

  private used(): void {
    this.usedAt = this.options.clock.steady();
  }

  /** One timer, not one for each datagram. */
  private endWhenIdle(after: number): void {
    const { clock, idleTimeout } = this.options;
    this.timer = clock.after(after, () => {
      const left = this.usedAt + idleTimeout - clock.steady();
      if (left > 0) this.endWhenIdle(left);
      else this.end();
    });
  }

  /** A method, since the state changes while a connection is made. */
  private isEnded(): boolean {
    return this.state === 'ended';
  }
}

/** Makes a socket that only the endpoint can reach, and that reports when the endpoint rejects. */
async function connectUdp(family: IpFamily, { address, port }: EndpointAddress): Promise<Socket> {
  const socket = udpSocket(family);
  const connected = once(socket, 'connect');
  socket.connect(port, address);
  try {
    await connected;
    return socket;
  } catch (error) {
    socket.close();
    throw error;
  }
}

/** The maximum of bytes that wait in a socket for the kernel. More is dropped, as in a network. */
const MOST_WAITING_BYTES = 1024 * 1024;

/** Sends without waiting, to the peer of a connected socket when no other is named. */
function send(
  socket: Socket,
  datagram: Buffer,
  failed: (error: Error) => void,
  to?: { readonly address: string; readonly port: number },
): void {
  if (socket.getSendQueueSize() > MOST_WAITING_BYTES) return;
  const sent = (error: Error | null) => {
    if (error) failed(error);
  };
  if (to) socket.send(datagram, to.port, to.address, sent);
  else socket.send(datagram, sent);
}
