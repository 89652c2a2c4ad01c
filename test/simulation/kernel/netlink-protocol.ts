/** A netlink socket as the simulated kernel sees it. */
export interface KernelSocket {
  /** The address of the socket (`nl_pid`), unique among those that are open. */
  readonly port: number;
  /** The number of the process that opened it. */
  readonly process: number;
  /** Bits of the multicast groups that it hears. */
  readonly groups: number;
  /** Queues a datagram for the next `recv`; one that does not fit is lost, and `recv` then says so once (ENOBUFS). */
  deliver(datagram: Buffer): void;
  /**
   * Queues a dump: each `recv` takes the next datagram, made only then, so that what changes in between can be seen by it, as in
   * the kernel.
   */
  deliverLater(datagrams: Iterator<Buffer>): void;
}

/** One protocol of netlink (NETLINK_ROUTE, NETLINK_NETFILTER, NETLINK_GENERIC), or a part of one. */
export interface NetlinkProtocol {
  /**
   * Works on what one `send` carries: one message or several. When it returns, all answers are queued, as with the kernel.
   * @returns the error of `send` itself (an errno), 0 if there is none
   */
  handle(socket: KernelSocket, bytes: Buffer): number;
}

/** Sends to all sockets that hear a multicast group of a protocol. */
export type Multicast = (group: number, datagram: Buffer) => void;
