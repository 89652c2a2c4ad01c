import { addressBytes } from '../netlink/address-bytes.js';
import { ENOENT } from '../netlink/errno.js';
import { NetlinkRequestError } from '../netlink/errors.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_ROUTE } from '../netlink/protocol.js';
import { findLink } from './links.js';
import { AF_INET, AF_INET6, NDA_DST, NUD_STATES, RTM_GETNEIGH } from './rtnetlink.js';

/** The neighbours of this network namespace, one lookup for each question, as `ip neighbour get` does it. */
export class NetlinkNeighbours {
  private readonly channel = new NetlinkChannel(() => NetlinkSocket.open(NETLINK_ROUTE));

  /**
   * The state of the entry, as `ip neighbour` calls it; undefined if there is none. Rejects with a NetlinkError if the kernel cannot
   * be asked; Linux answers since 5.0.
   */
  async state(address: string, device: string): Promise<string | undefined> {
    const link = await findLink(this.channel, device);
    if (!link) return undefined;
    const attempt = `looking for the neighbour ${address} on ${device}`;
    let state: number | undefined;
    const { errno, explanation } = await this.channel.ask(
      {
        type: RTM_GETNEIGH,
        attempt,
        put(writer) {
          writer.putWord(address.includes(':') ? AF_INET6 : AF_INET);
          writer.putWord(link.index);
          writer.putWord(0);
          writer.putBytes(NDA_DST, addressBytes(address));
        },
      },
      ({ bytes, start }) => (state = bytes[start + 8]),
    );
    if (errno === ENOENT) return undefined;
    if (errno !== 0) throw new NetlinkRequestError(attempt, errno, explanation);
    return state === undefined ? undefined : (NUD_STATES.get(state) ?? `in state ${state}`);
  }

  close(): Promise<void> {
    return this.channel.close();
  }
}
