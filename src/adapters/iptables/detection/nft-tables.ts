import type { IpFamily } from '../../../domain/net/ip-family.js';
import { NetlinkChannel } from '../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../netlink/netlink-socket.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { familyNumber, NETLINK_NETFILTER } from '../../netlink/protocol.js';
import { recordOf, RULE_PLACE } from '../../nftables/netlink/messages/records.js';
import * as nf from '../../nftables/netlink/nf-tables.js';
import { isWithoutNfTables } from '../../nftables/netlink/read/list-chains.js';

/**
 * The names of the tables of a family that have rules, of all programs, including iptables-nft. None if the kernel has no
 * nf_tables.
 * @throws NetlinkError if the kernel cannot be reached
 */
export async function nftTablesWithRules(family: IpFamily): Promise<readonly string[]> {
  const names = new Set<string>();
  const attempt = `GETRULE for ${family} of nf_tables`;
  const put = (writer: MessageWriter): void => writer.putWord(familyNumber(family));
  try {
    await NetlinkChannel.during(
      () => NetlinkSocket.open(NETLINK_NETFILTER),
      (channel) =>
        channel.list({ type: nf.GETRULE, attempt, put }, (message) => {
          const { table } = recordOf(RULE_PLACE, message);
          if (table !== undefined) names.add(table);
          return undefined;
        }),
    );
  } catch (error) {
    if (!isWithoutNfTables(error)) throw error;
  }
  return [...names];
}
