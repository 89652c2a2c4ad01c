import { EINVAL, ENOENT } from '../netlink/errno.js';
import type { MessageWriter } from '../netlink/message-writer.js';
import { NetlinkChannel } from '../netlink/netlink-channel.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../netlink/protocol.js';

/** Numbers of linux/netfilter/ipset/ip_set.h. */
const NFNL_SUBSYS_IPSET = 6 << 8;
const IPSET_CMD_HEADER = NFNL_SUBSYS_IPSET | 12;
const ATTRIBUTE = { PROTOCOL: 1, SET_NAME: 2 } as const;
/** Spoken by every kernel since 2.6.39. */
const PROTOCOL = 6;
/** struct nfgenmsg as a word; sets of all families share their names. */
const ANY_FAMILY = 0;

/**
 * Whether this network namespace has an IP set of one of the names, found out without the tool ipset.
 * @throws NetlinkError when the kernel does not answer
 */
export function hasIpSet(names: Iterable<string>): Promise<boolean> {
  const openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER);
  return NetlinkChannel.during(openSocket, async (channel) => {
    for (const name of names) {
      const request = {
        type: IPSET_CMD_HEADER,
        attempt: `looking for the IP set ${name}`,
        put: (writer: MessageWriter) => {
          writer.putWord(ANY_FAMILY);
          writer.putU8(ATTRIBUTE.PROTOCOL, PROTOCOL);
          writer.putText(ATTRIBUTE.SET_NAME, name);
        },
      };
      // EINVAL: the kernel has no IP sets at all.
      if (await channel.find(request, [ENOENT, EINVAL], () => true)) return true;
    }
    return false;
  });
}
