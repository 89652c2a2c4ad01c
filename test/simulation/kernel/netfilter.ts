import { E } from './netlink/numbers.js';
import { acknowledge, requestsIn, type KernelSocket, type NetlinkProtocol } from './netlink/requests.js';

/** NFNL_SUBSYS_…: the upper byte of a message's type. */
export const SUBSYSTEM = { CTNETLINK: 1, ACCOUNTING: 7, NFTABLES: 10 } as const;
const [BATCH_BEGIN, BATCH_END] = [0x10, 0x11];

/** NETLINK_NETFILTER: passes each message to the subsystem that it is for, and a batch, as a whole, to nf_tables. */
export class Netfilter implements NetlinkProtocol {
  /** @param subsystems by their numbers */
  constructor(private readonly subsystems: ReadonlyMap<number, NetlinkProtocol>) {}

  handle(socket: KernelSocket, bytes: Buffer): void {
    for (const request of requestsIn(bytes)) {
      const { type, start, end, isForKernel } = request;
      if (start === 0 && type === BATCH_BEGIN)
        return this.subsystems.get(SUBSYSTEM.NFTABLES)?.handle(socket, bytes);
      if (!isForKernel || type === BATCH_END) continue;
      const subsystem = this.subsystems.get(type >> 8);
      if (subsystem) subsystem.handle(socket, bytes.subarray(start, end));
      else acknowledge(socket, request, { errno: E.EINVAL });
    }
  }

  closed(socket: KernelSocket): void {
    for (const subsystem of this.subsystems.values()) subsystem.closed?.(socket);
  }
}
