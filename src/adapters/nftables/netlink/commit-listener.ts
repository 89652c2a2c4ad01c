import { NetlinkSocket, type NetlinkSocketOptions } from '../../netlink/netlink-socket.js';
import { assemble, WHOLE_MESSAGE, type FilterProgram } from '../../netlink/packet-filter.js';
import { NETLINK_NETFILTER } from '../../netlink/protocol.js';
import * as nf from './nf-tables.js';
import { readCommit } from './queries.js';

/** The lower byte of a message's type. */
const KIND = 4;
/** Passes messages about whole transactions, not about their contents. */
const ONLY_COMMITS: FilterProgram = [
  ['loadByte', KIND],
  ['ifEqual', nf.NEWGEN & 0xff, 'pass', 'drop'],
  'pass',
  ['end', WHOLE_MESSAGE],
  'drop',
  ['end', 0],
];

/**
 * Hears of all nf_tables transactions in this network namespace while it is open, and reports which of them a program of ours
 * made that does not report it. To be open only while it runs: as long as a program listens, the kernel describes each
 * rule and element of every transaction, whether a filter drops it or not.
 */
export class CommitListener {
  private constructor(private readonly socket: NetlinkSocket) {}

  /** Throws a NetlinkError if netlink is unavailable. */
  static open(
    openSocket = (options: NetlinkSocketOptions) => NetlinkSocket.open(NETLINK_NETFILTER, options),
  ): CommitListener {
    const socket = openSocket({ groups: nf.NOTIFICATIONS });
    try {
      socket.filter(assemble(ONLY_COMMITS));
    } catch (error) {
      socket.close();
      throw error;
    }
    return new CommitListener(socket);
  }

  /**
   * The generations of the transactions that a child of this process has committed, in order; to be called once, when it has
   * ended. Its netlink port has the child's number, as libmnl has the kernel choose it, unless another program has that
   * port: then there are none, as there are when some may be missing.
   */
  generationsOf(child: number): readonly number[] {
    const generations: number[] = [];
    const processes = new Set<number | undefined>();
    const lost = this.socket.collectMessages((message) => {
      if (message.type !== nf.NEWGEN) return;
      const { generation, port, process } = readCommit(message);
      if (port !== child) return;
      generations.push(generation);
      processes.add(process);
    });
    // A process in another container may have the same number, and have held the port before the child or after it.
    return lost || processes.size > 1 ? [] : generations;
  }

  /** Idempotent. */
  close(): void {
    this.socket.close();
  }
}
