import type { IpFamily } from '../../../../domain/net/ip-family.js';
import { EINVAL } from '../../../netlink/errno.js';
import { NetlinkRequestError } from '../../../netlink/errors.js';
import { NetlinkChannel } from '../../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../../netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../../../netlink/protocol.js';
import * as nf from '../nf-tables.js';
import { askerOf } from './ask.js';
import { CHAIN, recordOf } from '../messages/records.js';

/**
 * The names of all chains of nf_tables in a family, of all programs, including iptables-nft. None if the kernel has no
 * nf_tables.
 * @throws NetlinkError if the kernel cannot be reached
 */
export async function listChains(family: IpFamily): Promise<readonly string[]> {
  const channel = new NetlinkChannel(() => NetlinkSocket.open(NETLINK_NETFILTER));
  const names: string[] = [];
  try {
    await channel.runExclusive((conversation) =>
      askerOf(
        conversation,
        nf.familyWord(family),
      )({
        type: nf.GETCHAIN,
        name: `GETCHAIN for ${family}`,
        all: true,
        onMessage: (message) => names.push(recordOf(CHAIN, message).name!),
      }),
    );
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
