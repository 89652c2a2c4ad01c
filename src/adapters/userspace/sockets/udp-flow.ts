import { once } from 'node:events';
import type { Socket } from 'node:dgram';
import type { Clock, Timer } from '../../../application/ports/clock.js';
import type { Logger } from '../../../application/ports/logger.js';
import { endpointPlace } from '../../../domain/model/endpoint.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import {
  type EndpointAddress,
  NoEndpointError,
  type RoundRobin,
} from '../../../domain/userspace/round-robin.js';
import { dial } from './dial.js';
import { udpSocket } from './listen.js';
import { send } from './send-datagram.js';

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
 * timeout, when the endpoint refuses, when there is none, or when it is closed.
 */
export class UdpFlow {
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

/** Makes a socket that only the endpoint can reach, and that reports when the endpoint refuses. */
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
