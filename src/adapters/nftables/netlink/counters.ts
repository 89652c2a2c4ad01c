/** Named counters of our table. */

import { rejectedProtocols } from '../../../domain/forwarding/node-network.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { rejectionCounter } from '../../../domain/nftables/layout/structure.js';
import { TABLE_NAME } from '../../../domain/nftables/layout/table.js';
import type { NetlinkMessage } from '../../netlink/message-reader.js';
import type { MessageWriter } from '../../netlink/message-writer.js';
import { NetlinkChannel } from '../../netlink/netlink-channel.js';
import { NetlinkSocket } from '../../netlink/netlink-socket.js';
import { familyNumber, NETLINK_NETFILTER } from '../../netlink/protocol.js';
import { queryRunner, type RunQuery } from './queries.js';
import * as nf from './nf-tables.js';
import { OBJECT, recordOf } from './records.js';

/** The packets that each named counter of our table has counted; none if there is no table. */
export async function listCounters(query: RunQuery): Promise<ReadonlyMap<string, number>> {
  const counters = new Map<string, number>();
  const put = (writer: MessageWriter) => writer.putText(1, TABLE_NAME);
  const onMessage = (message: NetlinkMessage): void => {
    const { name, type, data } = recordOf(OBJECT, message);
    if (type === nf.OBJECT_COUNTER) counters.set(name!, data?.packets ?? 0);
  };
  await query({ type: nf.GETOBJ, name: 'GETOBJ', all: true, put, onMessage });
  return counters;
}

/**
 * The same, with a socket of its own, so that it waits for no write.
 * @throws NetlinkError if the kernel cannot be queried; the signal's reason when it is aborted
 */
export function readCounters(
  family: IpFamily,
  signal?: AbortSignal,
  openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER),
): Promise<ReadonlyMap<string, number>> {
  return NetlinkChannel.during(openSocket, (channel) =>
    channel.runExclusive((conversation) =>
      listCounters(queryRunner(conversation, familyNumber(family), signal)),
    ),
  );
}

/**
 * The packets to node ports on loopback addresses that the rules of a family have rejected, by protocol, as far as they are counted.
 * @throws NetlinkError if the kernel cannot be queried; the signal's reason when it is aborted
 */
export async function rejectedPackets(
  family: IpFamily,
  signal: AbortSignal,
  read = readCounters,
): Promise<ReadonlyMap<Protocol, number>> {
  const counters = await read(family, signal);
  const packets = new Map<Protocol, number>();
  for (const protocol of rejectedProtocols({ loopbackNodePorts: 'rejected' })) {
    const counted = counters.get(rejectionCounter(protocol));
    if (counted !== undefined) packets.set(protocol, counted);
  }
  return packets;
}
