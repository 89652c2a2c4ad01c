import { errorMessage } from '../../application/error-message.js';
import {
  ConntrackUnavailableError,
  type Conntrack,
  type SweepResult,
} from '../../application/ports/conntrack.js';
import type { FlowQuery } from '../../domain/conntrack/doubts.js';
import type { Flow } from '../../domain/conntrack/flow.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import { EINTR, EINVAL, EOPNOTSUPP, EPERM, EPROTONOSUPPORT } from '../netlink/errno.js';
import {
  NetlinkError,
  NetlinkPermissionError,
  NetlinkRequestError,
  NetlinkSystemError,
  NetlinkUnavailableError,
} from '../netlink/errors.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../netlink/protocol.js';
import { FlowDeletion } from './flow-deletion.js';
import { TableWalk } from './table-walk.js';

/** How often a dump that was interrupted is begun anew (docs/spec/conntrack.md §5). */
const ATTEMPTS = 5;

/**
 * The kernel's table over ctnetlink, in the network namespace of this process. A sweep streams a dump that the kernel
 * filters; stale flows are removed while it goes on, so nothing is kept but one datagram and one batch of deletions.
 * Every sweep has sockets of its own.
 */
export class NetlinkConntrack implements Conntrack {
  private readonly underWay = new Set<Promise<unknown>>();
  private closed = false;
  private kernelFilters = true;

  constructor(private readonly openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER)) {}

  sweep(
    family: IpFamily,
    query: FlowQuery,
    isStale: (flow: Flow) => boolean,
    signal: AbortSignal,
  ): Promise<SweepResult> {
    const sweep = this.sweepOnce(family, query, isStale, signal);
    this.underWay.add(sweep);
    const forget = () => void this.underWay.delete(sweep);
    sweep.then(forget, forget);
    return sweep;
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.underWay);
  }

  private async sweepOnce(
    family: IpFamily,
    query: FlowQuery,
    isStale: (flow: Flow) => boolean,
    signal: AbortSignal,
  ): Promise<SweepResult> {
    if (this.closed) throw new ConntrackUnavailableError('it has been closed');
    const dumping = this.open();
    let deleting: NetlinkSocket | undefined;
    try {
      deleting = this.open();
      const deletion = new FlowDeletion(deleting, family);
      const walk = new TableWalk(dumping, deletion, family, isStale, signal);
      const problem = await this.walk(walk, query);
      const reason = problem ?? deletion.problem;
      return { examined: walk.examined, deleted: deletion.deleted, ...(reason && { problem: reason }) };
    } finally {
      dumping.close();
      deleting?.close();
    }
  }

  private async walk(walk: TableWalk, query: FlowQuery): Promise<Error | undefined> {
    try {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const { errno, explanation, interrupted } = await walk.begin(this.kernelFilters ? query : undefined);
        if (errno === 0 && !interrupted) return undefined;
        if (errno === EPERM) throw new ConntrackUnavailableError('not permitted: CAP_NET_ADMIN is needed');
        const refused = errno === EINVAL || errno === EOPNOTSUPP;
        const error = new NetlinkRequestError('the dump of tracked connections', errno, explanation);
        if (refused && this.kernelFilters) this.kernelFilters = false;
        else if (refused)
          throw new ConntrackUnavailableError('the kernel knows no ctnetlink', { cause: error });
        else if (errno !== 0 && errno !== EINTR) return error;
      }
      return new Error(`the dump of tracked connections was interrupted ${ATTEMPTS} times`);
    } catch (error) {
      if (error instanceof NetlinkPermissionError)
        throw new ConntrackUnavailableError(error.message, { cause: error });
      // Anything else that is wrong with a socket is over with it.
      if (error instanceof NetlinkError) return error;
      throw error;
    }
  }

  private open(): NetlinkSocket {
    try {
      return this.openSocket();
    } catch (error) {
      const unknown = error instanceof NetlinkSystemError && error.errno === EPROTONOSUPPORT;
      if (unknown || error instanceof NetlinkUnavailableError)
        throw new ConntrackUnavailableError(errorMessage(error), { cause: error });
      throw error;
    }
  }
}
