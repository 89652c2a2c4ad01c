import type { RemoteInfo, Socket } from 'node:dgram';
import type { Logger } from '../../../application/ports/logger.js';
import { endpointPlace } from '../../../domain/model/endpoint.js';
import type { RoundRobin } from '../../../domain/userspace/round-robin.js';
import { bindUdp, type ListenOptions } from './listen.js';
import type { ProxySocket } from './proxy-socket.js';
import { send } from './send-datagram.js';
import { UdpFlow, type UdpOptions } from './udp-flow.js';

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
