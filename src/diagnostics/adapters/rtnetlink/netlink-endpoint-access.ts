import { connect } from 'node:net';
import type { EndpointAccess } from '../../application/ports/endpoint-access.js';
import type { Route } from '../../../application/ports/node/routes.js';
import { NetlinkChannel } from '../../../adapters/netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../adapters/netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../../../adapters/netlink/protocol.js';
import { neighbourState } from './neighbour-state.js';
import { NetlinkRoutes } from '../../../adapters/rtnetlink/netlink-routes.js';

/** How long a connection may take, in milliseconds. */
const TIMEOUT = 1_000;

/** Routes and neighbours of this network namespace as the kernel tells them, and connections of this process. */
export class NetlinkEndpointAccess implements EndpointAccess {
  private readonly routes = new NetlinkRoutes();
  private readonly channel = new NetlinkChannel(() => NetlinkSocket.open(NETLINK_ROUTE));

  route(address: string): Promise<Route | undefined> {
    return this.routes.to(address);
  }

  neighbour(address: string, device: string): Promise<string | undefined> {
    return neighbourState(this.channel, address, device);
  }

  connect(address: string, port: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const socket = connect({ host: address, port });
      const end = (problem: string | undefined): void => {
        clearTimeout(late);
        socket.destroy();
        resolve(problem);
      };
      const late = setTimeout(() => end(`no answer within ${TIMEOUT / 1_000} s`), TIMEOUT);
      socket.once('connect', () => end(undefined));
      socket.once('error', ({ message }) => end(message));
    });
  }

  async close(): Promise<void> {
    await Promise.all([this.routes.close(), this.channel.close()]);
  }
}
