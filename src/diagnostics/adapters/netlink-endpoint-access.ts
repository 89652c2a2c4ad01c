import { connect } from 'node:net';
import type { EndpointAccess } from '../application/explain/checks.js';
import type { Route } from '../../application/ports/node/network.js';
import { NetlinkChannel } from '../../adapters/netlink/netlink-channel.js';
import { NetlinkSocket } from '../../adapters/netlink/netlink-socket.js';
import { NETLINK_ROUTE, addressBytes, familyNumber } from '../../adapters/netlink/protocol.js';
import { NetlinkRoutes } from '../../adapters/rtnetlink/netlink-routes.js';
import { familyOf } from '../../domain/net/ip-family.js';
import { ENOENT } from '../../adapters/netlink/errors.js';
import type { MessageWriter } from '../../adapters/netlink/message-writer.js';
import { findLink, NDA_DST, NUD_STATES, RTM_GETNEIGH } from '../../adapters/rtnetlink/rtnetlink.js';

/** How long a connection may take, in milliseconds. */
const TIMEOUT = 1_000;

/** Routes and neighbors of this network namespace from the kernel, and connections of this process. */
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

/**
 * The state of a neighbour's entry, as `ip neighbour get` prints it; undefined if there is none. Rejects with a NetlinkError if the
 * kernel cannot be asked; Linux answers since 5.0.
 */
async function neighbourState(
  channel: NetlinkChannel,
  address: string,
  device: string,
): Promise<string | undefined> {
  const link = await findLink(channel, device);
  if (!link) return undefined;
  const attempt = `looking for the neighbour ${address} on ${device}`;
  const put = (writer: MessageWriter): void => {
    writer.putWord(familyNumber(familyOf(address)));
    writer.putWord(link.index);
    writer.putWord(0);
    writer.putBytes(NDA_DST, addressBytes(address));
  };
  const state = await channel.find(
    { type: RTM_GETNEIGH, attempt, put },
    [ENOENT],
    ({ bytes, start }) => bytes[start + 8],
  );
  return state === undefined ? undefined : (NUD_STATES.get(state) ?? `in state ${state}`);
}
