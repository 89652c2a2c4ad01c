import { errorMessage } from '../../application/error-message.js';
import {
  ConntrackUnavailableError,
  type Conntrack,
  type FindResult,
  type FoundConnection,
  type PollResult,
  type SweepResult,
  type WatchedProtocol,
} from '../../application/ports/node/conntrack.js';
import type { FlowPlace } from '../../domain/conntrack/frontend-map.js';
import type { ConnectionActivity, ClientFlow, Flow } from '../../domain/conntrack/flow.js';
import type { FlowQuery } from '../../domain/conntrack/desired-flows.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import {
  EINTR,
  EINVAL,
  EOPNOTSUPP,
  EPERM,
  EPROTONOSUPPORT,
  NetlinkError,
  NetlinkPermissionError,
  NetlinkRequestError,
  NetlinkSystemError,
  NetlinkUnavailableError,
} from '../netlink/errors.js';
import { NetlinkSocket } from '../netlink/netlink-socket.js';
import { NETLINK_NETFILTER } from '../netlink/protocol.js';
import { ensureSysctl } from '../sysctl.js';
import { ConnectionPoller, FoundInKernel, FlowDeletion } from './connection-poller.js';
import type { FlowReader } from './flow-reader.js';
import { type DumpQuery, firstEndpoint, TableWalk } from './table-walk.js';
/** How often an interrupted dump is restarted (docs/internals/spec/conntrack.md §5). */
const ATTEMPTS = 5;
/** Sockets that stay open between calls: as many as a sweep takes. */
const MOST_IDLE = 2;
/** How many connections are queried by their endpoints before the kernel counts as unable. */
const PROBES = 2;

/**
 * The kernel's table over ctnetlink, in the network namespace of this process. A sweep streams a dump that the kernel
 * filters, and removes stale flows meanwhile, so memory holds only one datagram and one batch of deletions. Calls at the same time have
 * sockets of their own, which the next calls use again: to close one waits until nf_tables has freed the elements that its last
 * transaction removed, 40 ms for 20,000, and transactions wait meanwhile.
 */
export class NetlinkConntrack implements Conntrack {
  private readonly inFlight = new Set<Promise<unknown>>();
  /** No answer is left to be read from any. */
  private readonly idleSockets: NetlinkSocket[] = [];
  private closed = false;
  private kernelFilters = true;
  /** Whether filters may name the endpoint; undefined while the kernel had no connection to show it with. */
  private filtersByEndpoint: boolean | undefined;
  /** The table was listed once: later errors do not mean missing support. */
  private isSupported = false;

  constructor(
    private readonly openSocket = () => NetlinkSocket.open(NETLINK_NETFILTER),
    private readonly setSysctl = ensureSysctl,
  ) {}

  countPackets(): void {
    this.setSysctl('net/netfilter/nf_conntrack_acct', '1');
  }

  sweep(
    family: IpFamily,
    { protocol, unreplied, ...place }: FlowQuery,
    isStale: (flow: ClientFlow) => boolean,
    signal: AbortSignal,
  ): Promise<SweepResult> {
    const query = { ...place, protocol, end: 'destination', replied: unreplied ? false : undefined } as const;
    return this.running(() =>
      this.withSockets(async (dumping, deleting) => {
        const deletion = new FlowDeletion(deleting, family);
        const onFlow = (flow: FlowReader): void => {
          if (isStale(flow)) deletion.add(flow);
        };
        const flush = async (isLast: boolean): Promise<void> => {
          if (isLast || deletion.full) await deletion.flush();
        };
        const walk = new TableWalk(dumping, family, query, onFlow, flush, signal);
        const problem = (await this.walk(walk)) ?? deletion.problem;
        return { examined: walk.examined, deleted: deletion.deleted, ...(problem && { problem }) };
      }),
    );
  }

  find(
    family: IpFamily,
    protocol: WatchedProtocol,
    endpoints: readonly FlowPlace[],
    isWanted: (flow: Flow) => boolean,
    signal: AbortSignal,
  ): Promise<FindResult> {
    return this.running(() =>
      this.withSocket(async (dumping) => {
        const found = new Map<number, FoundInKernel>();
        const isWatchable = (flow: FlowReader): boolean =>
          !flow.closed && !flow.offloaded && (protocol === 'TCP' || flow.packetsAnswered !== undefined);
        const onFlow = (flow: FlowReader): void => {
          if (isWatchable(flow) && !found.has(flow.id) && isWanted(flow))
            found.set(flow.id, new FoundInKernel(flow));
        };
        let examined = 0;
        let problem = await failureOf(this.probeEndpointFilter(family, protocol, signal));
        // Without a filter each walk shows everything.
        for (const place of this.filtersByEndpoint ? endpoints : [{}]) {
          const query = { ...place, protocol, end: 'endpoint', replied: true } as const;
          const walk = new TableWalk(dumping, family, query, onFlow, async () => {}, signal);
          problem ??= await this.walk(walk);
          examined += walk.examined;
        }
        return { found: [...found.values()], examined, ...(problem && { problem }) };
      }),
    );
  }

  poll(
    family: IpFamily,
    connections: Iterable<FoundConnection>,
    isDead: (connection: FoundConnection, look: ConnectionActivity | undefined) => boolean,
    signal: AbortSignal,
  ): Promise<PollResult> {
    const own = [...connections].filter((connection) => connection instanceof FoundInKernel);
    return this.running(() =>
      this.withSockets(async (asking, deleting) => {
        const deletion = new FlowDeletion(deleting, family);
        const poller = new ConnectionPoller(asking, deletion, family, isDead);
        const failure = await failureOf(poller.poll(own, signal));
        const problem = failure ?? poller.problem ?? deletion.problem;
        return { deleted: deletion.deleted, ...(problem && { problem }) };
      }),
    );
  }

  async close(): Promise<void> {
    this.closed = true;
    await Promise.allSettled(this.inFlight);
    for (const socket of this.idleSockets.splice(0)) socket.close();
  }

  private running<Result>(call: () => Promise<Result>): Promise<Result> {
    const running = call();
    this.inFlight.add(running);
    const forget = () => void this.inFlight.delete(running);
    running.then(forget, forget);
    return running;
  }

  /** Gives a socket to what it calls. */
  private async withSocket<Result extends { readonly problem?: Error }>(
    call: (socket: NetlinkSocket) => Promise<Result>,
  ): Promise<Result> {
    if (this.closed) throw new ConntrackUnavailableError('it is closed');
    const socket = this.idleSockets.pop() ?? this.open();
    let isClean = false;
    try {
      const result = await call(socket);
      isClean = result.problem === undefined;
      return result;
    } finally {
      if (isClean && !this.closed && this.idleSockets.length < MOST_IDLE) this.idleSockets.push(socket);
      else socket.close();
    }
  }

  private withSockets<Result extends { readonly problem?: Error }>(
    call: (one: NetlinkSocket, other: NetlinkSocket) => Promise<Result>,
  ): Promise<Result> {
    return this.withSocket((one) => this.withSocket((other) => call(one, other)));
  }

  private walk(walk: TableWalk): Promise<Error | undefined> {
    return failureOf(this.attempts(walk));
  }

  private async attempts(walk: TableWalk): Promise<Error | undefined> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const { errno, explanation, interrupted } = await walk.begin(this.mayFilter(walk));
      if (errno === 0 && !interrupted) {
        this.isSupported = true;
        return undefined;
      }
      if (errno === EPERM)
        throw new ConntrackUnavailableError('permission denied; CAP_NET_ADMIN is required');
      const unsupported = !this.isSupported && (errno === EINVAL || errno === EOPNOTSUPP);
      const error = new NetlinkRequestError('listing tracked connections', errno, explanation);
      if (unsupported && this.kernelFilters) this.kernelFilters = false;
      else if (unsupported)
        throw new ConntrackUnavailableError('the kernel does not support ctnetlink', { cause: error });
      else if (errno !== 0 && errno !== EINTR) return error;
    }
    return new Error(`listing tracked connections was interrupted ${ATTEMPTS} times`);
  }

  private mayFilter({ query }: TableWalk): boolean {
    return this.kernelFilters && (query.end === 'destination' || this.filtersByEndpoint === true);
  }

  /**
   * Kernels from 5.8 on, before 5.15.5 and 5.16, compare the reply part of a filter with zeros, and show nothing. So one connection that
   * there is gets queried by its endpoint. If it ends in between, the next one is; then the filter counts as wrong, which does no harm:
   * everything is compared here.
   */
  private async probeEndpointFilter(
    family: IpFamily,
    protocol: WatchedProtocol,
    signal: AbortSignal,
  ): Promise<void> {
    if (this.filtersByEndpoint !== undefined || !this.kernelFilters) return;
    const first = async (query: Pick<DumpQuery, 'end'> & FlowPlace): Promise<FlowPlace | undefined> => {
      const socket = this.open();
      try {
        return await firstEndpoint(socket, family, { ...query, protocol, replied: undefined }, signal);
      } finally {
        socket.close();
      }
    };
    for (let attempt = 1; attempt <= PROBES; attempt++) {
      const place = await first({ end: 'destination' });
      if (!place) return;
      if (await first({ ...place, end: 'endpoint' })) {
        this.filtersByEndpoint = true;
        return;
      }
    }
    this.filtersByEndpoint = false;
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

/** The error of a socket; a new one may work. Throws errors that a new socket cannot avoid. */
async function failureOf(work: Promise<Error | undefined | void>): Promise<Error | undefined> {
  try {
    return (await work) ?? undefined;
  } catch (error) {
    if (error instanceof NetlinkPermissionError)
      throw new ConntrackUnavailableError(error.message, { cause: error });
    if (error instanceof NetlinkError) return error;
    throw error;
  }
}
