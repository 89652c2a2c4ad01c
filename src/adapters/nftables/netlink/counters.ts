import type { IpFamily } from '../../../domain/net/ip-family.js';
import { TABLE_NAME } from '../../../domain/nftables/layout/table.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { NetlinkChannel } from '../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../netlink/netlink-socket.js';
import { familyNumber, NETLINK_NETFILTER } from '../../netlink/protocol.js';
import { OBJECT, recordOf } from './messages/records.js';
import * as nf from './nf-tables.js';
import { askerOf, type Ask } from './read/ask.js';

/** The packets that each named counter of our table has counted; none if there is no table. */
export async function listCounters(ask: Ask): Promise<ReadonlyMap<string, number>> {
  const counters = new Map<string, number>();
  const put = (writer: MessageWriter) => writer.putText(1, TABLE_NAME);
  const onMessage = (message: NetlinkMessage): void => {
    const { name, type, data } = recordOf(OBJECT, message);
    if (type === nf.OBJECT_COUNTER) counters.set(name!, data?.packets ?? 0);
  };
  await ask({ type: nf.GETOBJ, name: 'GETOBJ', all: true, put, onMessage });
  return counters;
}

/**
 * The same, with a socket of its own, so that it waits for no write.
 * @throws NetlinkError if the kernel cannot be asked; the signal's reason when it is aborted
 */
export function readCounters(
  family: IpFamily,
  signal?: AbortSignal,
  openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER),
): Promise<ReadonlyMap<string, number>> {
  return NetlinkChannel.during(openSocket, (channel) =>
    channel.runExclusive((conversation) => listCounters(askerOf(conversation, familyNumber(family), signal))),
  );
}
