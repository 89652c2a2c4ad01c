import type { Walk } from '../../../../application/ports/tracer.js';
import { follow } from '../../../../domain/nftables/kernel/follow.js';
import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { NetlinkChannel } from '../../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../netlink/netlink-socket.js';
import { NETLINK_NETFILTER, NETLINK_ROUTE } from '../../../netlink/protocol.js';
import { listLinks } from '../../../rtnetlink/links.js';
import { listElements, lookUpElements } from './read-elements.js';
import { readTables, type ReadTable } from './read-ruleset.js';

/**
 * The rules of nf_tables as they are now, those of all programs. Elements of sets are read when a packet meets them, with a socket
 * that is opened for each packet.
 * @throws NetlinkError if the kernel cannot be asked; the signal's reason when it is aborted
 */
export async function readActualWalk(family: IpFamily, signal?: AbortSignal): Promise<Walk> {
  const tables = await withChannel(NETLINK_NETFILTER, (channel) => readTables(channel, family));
  signal?.throwIfAborted();
  const links = await withChannel(NETLINK_ROUTE, listLinks);
  const deviceNumbers = new Map(links.map(({ name, index }) => [name, index]));
  return {
    walk: (packet, environment) =>
      withChannel(NETLINK_NETFILTER, (channel) =>
        follow({ tables, deviceNumbers }, packet, environment, ({ table, set, keys }) => {
          const readTable = table as ReadTable;
          return keys === 'all'
            ? listElements(channel, readTable, set.name)
            : lookUpElements(channel, readTable, set.name, keys);
        }),
      ),
  };
}

async function withChannel<Result>(
  protocol: number,
  use: (channel: NetlinkChannel) => Promise<Result>,
): Promise<Result> {
  const channel = new NetlinkChannel(() => NetlinkSocket.open(protocol));
  try {
    return await use(channel);
  } finally {
    await channel.close();
  }
}
