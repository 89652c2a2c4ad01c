import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { EINVAL } from '../../../netlink/errno.js';
import { NetlinkRequestError } from '../../../netlink/errors.js';
import { NetlinkChannel } from '../../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../netlink/netlink-socket.js';
import type { MessageWriter } from '../../../netlink/message-writer.js';
import { familyNumber, NETLINK_NETFILTER } from '../../../netlink/protocol.js';
import * as nf from '../nf-tables.js';
import { CHAIN, recordOf } from '../messages/records.js';

/**
 * The names of all chains of nf_tables in a family, of all programs, including iptables-nft. None if the kernel has no
 * nf_tables.
 * @throws NetlinkError if the kernel cannot be reached
 */
export async function listChains(family: IpFamily): Promise<readonly string[]> {
  return (await listChainsOfTables(family)).map(({ name }) => name);
}

/** As `listChains`, each with the table that it is in. */
export async function listChainsOfTables(
  family: IpFamily,
): Promise<readonly { readonly table: string; readonly name: string }[]> {
  const openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER);
  const attempt = `GETCHAIN for ${family} of nf_tables`;
  const put = (writer: MessageWriter): void => writer.putWord(familyNumber(family));
  try {
    return await NetlinkChannel.during(openSocket, (channel) =>
      channel.list({ type: nf.GETCHAIN, attempt, put }, (message) => {
        const { table, name } = recordOf(CHAIN, message);
        return { table: table!, name: name! };
      }),
    );
  } catch (error) {
    if (isWithoutNfTables(error)) return [];
    throw error;
  }
}

/** Whether the error means that the kernel has no nf_tables at all. */
export function isWithoutNfTables(error: unknown): boolean {
  return error instanceof NetlinkRequestError && error.errno === EINVAL;
}
