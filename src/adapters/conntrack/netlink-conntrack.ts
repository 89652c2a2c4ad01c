import { errorMessage } from '../../application/error-message.js';
import {
  ConntrackUnavailableError,
  type Conntrack,
  type SweepResult,
} from '../../application/ports/node/conntrack.js';
import type { FlowQuery } from '../../domain/conntrack/suspect-flows.js';
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

/** How often an interrupted dump is restarted (docs/spec/conntrack.md §5). */
const ATTEMPTS = 5;

/**
 * The kernel's table over ctnetlink, in the network namespace of this process. A sweep streams a dump that the kernel
 * filters, and removes stale flows meanwhile, so memory holds only one datagram and one batch of deletions. Every sweep has
 * its own sockets.
 */
export class NetlinkConntrack implements Conntrack {
  private readonly inFlight = new Set<Promise<unknown>>();
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
    this.inFlight.add(sweep);
    const forget = () => void this.inFlight.delete(sweep);
    sweep.then(forget, forget);
    return sweep;
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.inFlight);
  }

  private async sweepOnce(
    family: IpFamily,
    query: FlowQuery,
    isStale: (flow: Flow) => boolean,
    signal: AbortSignal,
  ): Promise<SweepResult> {
    if (this.closed) throw new ConntrackUnavailableError('it is closed');
    const dumping = this.open();
    let deleting: NetlinkSocket | undefined;
    try {
      deleting = this.open();
      const deletion = new FlowDeletion(deleting, family);
      const walk = new TableWalk(dumping, deletion, family, query, isStale, signal);
      const problem = await this.walk(walk);
      const reason = problem ?? deletion.problem;
      return { examined: walk.examined, deleted: deletion.deleted, ...(reason && { problem: reason }) };
    } finally {
      dumping.close();
      deleting?.close();
    }
  }

  private async walk(walk: TableWalk): Promise<Error | undefined> {
    try {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
        const { errno, explanation, interrupted } = await walk.begin(this.kernelFilters);
        if (errno === 0 && !interrupted) return undefined;
        if (errno === EPERM)
          throw new ConntrackUnavailableError('permission denied; CAP_NET_ADMIN is required');
        const unsupported = errno === EINVAL || errno === EOPNOTSUPP;
        const error = new NetlinkRequestError('listing tracked connections', errno, explanation);
        if (unsupported && this.kernelFilters) this.kernelFilters = false;
        else if (unsupported)
          throw new ConntrackUnavailableError('the kernel does not support ctnetlink', { cause: error });
        else if (errno !== 0 && errno !== EINTR) return error;
      }
      return new Error(`listing tracked connections was interrupted ${ATTEMPTS} times`);
    } catch (error) {
      if (error instanceof NetlinkPermissionError)
        throw new ConntrackUnavailableError(error.message, { cause: error });
      // Any other socket error ends with this socket; a new one may work.
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
