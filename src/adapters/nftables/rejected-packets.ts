import { rejectedProtocols } from '../../domain/forwarding/rejected-protocols.js';
import type { Protocol } from '../../domain/model/service-port-name.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { rejectionCounter } from '../../domain/nftables/layout/rejection.js';
import { readCounters } from './netlink/counters.js';

/**
 * The packets to node ports on loopback addresses that the rules of a family have rejected, by protocol, as far as they are counted.
 * @throws NetlinkError if the kernel cannot be asked; the signal's reason when it is aborted
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
