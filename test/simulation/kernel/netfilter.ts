import type { KernelSocket, NetlinkProtocol } from './netlink-protocol.js';
import { acknowledge, requestsIn } from './netlink/requests.js';
import { EINVAL, EPERM, NLMSG_MIN_TYPE, NLM_F_REQUEST } from './netlink/numbers.js';

/** NFNL_SUBSYS_…: the upper byte of a message's type. */
export const SUBSYSTEM = {
  CTNETLINK: 1,
  CTNETLINK_EXPECTATIONS: 2,
  IPSET: 6,
  ACCOUNTING: 7,
  NFTABLES: 10,
} as const;
const BATCH_BEGIN = 0x10;
const BATCH_END = 0x11;

/** NETLINK_NETFILTER: passes each message to the subsystem that it is for, and a batch, as a whole, to nf_tables. */
export class Netfilter implements NetlinkProtocol {
  /**
   * @param subsystems by their numbers
   * @param isPermitted whether a process has CAP_NET_ADMIN, without which it is not even told anything
   */
  constructor(
    private readonly subsystems: ReadonlyMap<number, NetlinkProtocol>,
    private readonly isPermitted: (process: number) => boolean = () => true,
  ) {}

  handle(socket: KernelSocket, bytes: Buffer): number {
    if (!this.isPermitted(socket.process)) return this.forbid(socket, bytes);
    const first = bytes.length >= 6 ? bytes.readUInt16LE(4) : 0;
    if (first === BATCH_BEGIN) return this.subsystems.get(SUBSYSTEM.NFTABLES)?.handle(socket, bytes) ?? 0;
    const isOnly = first !== 0 && bytes.readUInt32LE(0) === bytes.length;
    for (const request of requestsIn(bytes)) {
      const { type, flags, header, payload } = request;
      const isControl = (flags & NLM_F_REQUEST) === 0 || type < NLMSG_MIN_TYPE || type === BATCH_END;
      const subsystem = isControl ? undefined : this.subsystems.get(type >> 8);
      if (subsystem) subsystem.handle(socket, isOnly ? bytes : Buffer.concat([header, payload]));
      else if (!isControl) acknowledge(socket, request, { errno: EINVAL });
    }
    return 0;
  }

  private forbid(socket: KernelSocket, bytes: Buffer): number {
    const [request] = requestsIn(bytes);
    if (request) acknowledge(socket, request, { errno: EPERM });
    return 0;
  }

  closed(socket: KernelSocket): void {
    for (const subsystem of new Set(this.subsystems.values())) subsystem.closed?.(socket);
  }
}
