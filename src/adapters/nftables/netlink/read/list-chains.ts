import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { EINVAL } from '../../../netlink/errno.js';
import { NetlinkRequestError } from '../../../netlink/errors.js';
import type { MessageWriter } from '../../../netlink/message-writer.js';
import { NetlinkChannel } from '../../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../../../netlink/protocol.js';
import * as nf from '../nf-tables.js';
import { attributesOf } from './table-reader.js';

/**
 * The names of all chains of nf_tables in a family, of all programs, including iptables-nft. None if the kernel has no
 * nf_tables.
 * @throws NetlinkError if the kernel cannot be reached
 */
export async function listChains(family: IpFamily): Promise<readonly string[]> {
  const channel = new NetlinkChannel(() => NetlinkSocket.open(NETLINK_NETFILTER));
  const names: string[] = [];
  const request = {
    type: nf.GETCHAIN,
    attempt: `listing the chains of nf_tables for ${family}`,
    put: (writer: MessageWriter) => writer.putWord(nf.familyWord(family)),
  };
  try {
    await channel.dump(request, (message) => {
      const attributes = attributesOf(message);
      while (attributes.next()) if (attributes.type === nf.CHAIN.NAME) names.push(attributes.text());
    });
    return names;
  } catch (error) {
    if (isWithoutNfTables(error)) return [];
    throw error;
  } finally {
    await channel.close();
  }
}

/** Whether the error means that the kernel has no nf_tables at all. */
export function isWithoutNfTables(error: unknown): boolean {
  return error instanceof NetlinkRequestError && error.errno === EINVAL;
}
