/** A netlink socket as the simulated kernel sees it. */
export interface KernelSocket {
  /** The address of the socket (`nl_pid`), unique among those of its protocol that are open. */
  readonly port: number;
  /** The number of the process that opened it. */
  readonly process: number;
  /** Bits of the multicast groups that it hears: group 1 is the lowest. */
  readonly groups: number;
  /** Whether a dump has not been read to its end; the kernel begins no other one on the socket (EBUSY). */
  readonly isDumping: boolean;
  /** How many bytes a datagram of a dump may have now: many, once its reader has shown that it has room for them. */
  readonly room: number;
  /** Queues a datagram for the next `recv`; one that does not fit is lost, and `recv` then says so once (ENOBUFS). */
  deliver(datagram: Buffer): void;
  /**
   * Queues a dump: each `recv` makes the next datagram, while it takes the one before, so that what changes in between can be seen
   * by it, as in the kernel.
   */
  deliverLater(datagrams: Iterator<Buffer>): void;
  /** What is delivered from now on is lost until all that is queued has been read, as if there were no more room. */
  lose(): void;
}

/** One protocol of netlink (NETLINK_ROUTE, NETLINK_NETFILTER, NETLINK_GENERIC), or a part of one. */
export interface NetlinkProtocol {
  /**
   * Works on what one `send` carries: one message or several. When it returns, all answers are queued, as with the kernel.
   * @returns the error of `send` itself (an errno), 0 if there is none
   */
  handle(socket: KernelSocket, bytes: Buffer): number;
  /** The socket is gone, and what it owned may go with it. */
  closed?(socket: KernelSocket): void;
}

/** Sends to all sockets that hear a multicast group of a protocol, by the group's number, from 1 on. */
export type Multicast = (group: number, datagram: Buffer) => void;
