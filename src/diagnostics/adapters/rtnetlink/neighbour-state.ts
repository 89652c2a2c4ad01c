import { familyOf } from '../../../domain/net/ip-family.js';
import { addressBytes, familyNumber } from '../../../adapters/netlink/protocol.js';
import { ENOENT } from '../../../adapters/netlink/errors.js';
import type { MessageWriter } from '../../../adapters/netlink/message-writer.js';
import type { NetlinkChannel } from '../../../adapters/netlink/netlink-channel.js';
import { findLink, NDA_DST, NUD_STATES, RTM_GETNEIGH } from '../../../adapters/rtnetlink/rtnetlink.js';

/**
 * The state of a neighbour's entry, as `ip neighbour get` tells it; undefined if there is none. Rejects with a NetlinkError if the
 * kernel cannot be asked; Linux answers since 5.0.
 */
export async function neighbourState(
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
