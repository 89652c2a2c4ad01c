import type { FlowQuery } from '../../../domain/conntrack/desired-flows.js';
import type { FlowPlace } from '../../../domain/conntrack/frontend-map.js';
import type { ConnectionActivity, ClientFlow, Flow } from '../../../domain/conntrack/flow.js';
import type { Protocol } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import { NamedError } from '../../../domain/model/named-error.js';

/**
 * The kernel's table of tracked connections. Memory does not grow with the table, and no call blocks the event loop for
 * long. Calls may overlap.
 */
export interface Conntrack {
  /**
   * Walks through the flows of a family that match the query and removes those for which `isStale` returns true. It may see
   * flows to other places, and the same flow twice, but only those of the protocol, and only unreplied ones if so asked; a
   * flow is only valid during that call. A flow that expires in the meantime is not an error; one that restarted is kept.
   * Removals are not undone if the walk fails later.
   * @throws ConntrackUnavailableError when the table is unavailable; retrying does not help
   * @throws the signal's reason when aborted
   */
  sweep(
    family: IpFamily,
    query: FlowQuery,
    isStale: (flow: ClientFlow) => boolean,
    signal: AbortSignal,
  ): Promise<SweepResult>;

  /**
   * Has the kernel count the packets of connections that begin from now on, which it takes to watch those of SCTP. Idempotent.
   * @throws when it cannot be set; the message names the action
   */
  countPackets(): void;

  /**
   * Finds the connections of a family and protocol to one of these endpoints that have been answered and are not closed, as far as
   * `isWanted` returns true; of SCTP only those whose packets are counted. It may see connections to other endpoints, and the same one twice, which is then found once; a
   * flow is only valid during that call. Connections that the kernel forwards past connection tracking are not found.
   * @throws as `sweep`
   */
  find(
    family: IpFamily,
    protocol: WatchedProtocol,
    endpoints: readonly FlowPlace[],
    isWanted: (flow: Flow) => boolean,
    signal: AbortSignal,
  ): Promise<FindResult>;

  /**
   * Looks at connections that `find` returned, one after the other, without searching the table, and removes those for which
   * `isDead` returns true. A poll reports the changes of the connection since the previous poll; the first one, since it began, or of SCTP since it was found. It is
   * undefined for one that is gone, closed, or forwarded past connection tracking: it need not be looked at again. A
   * connection that could not be looked at is left out.
   * @throws as `sweep`
   */
  poll(
    family: IpFamily,
    connections: Iterable<FoundConnection>,
    isDead: (connection: FoundConnection, look: ConnectionActivity | undefined) => boolean,
    signal: AbortSignal,
  ): Promise<PollResult>;

  /** Waits for running calls and releases everything. Idempotent. */
  close(): Promise<void>;
}

/** The protocols whose endpoints acknowledge what they get. */
export type WatchedProtocol = Exclude<Protocol, 'UDP'>;

/** A connection, by what its parts were when it was found. Only the table that found it can poll it. */
export type FoundConnection = Flow;

/** The outcome of a search for connections. */
export interface FindResult {
  readonly found: readonly FoundConnection[];
  readonly examined: number;
  /** Why the search is incomplete; another one may fix it. */
  readonly problem?: Error;
}

/** The outcome of looking at connections. */
export interface PollResult {
  readonly deleted: number;
  /** Why some were not polled, or dead ones remain; another poll may succeed. */
  readonly problem?: Error;
}

/** The outcome of a walk through the table. */
export interface SweepResult {
  readonly examined: number;
  readonly deleted: number;
  /** Why the walk is incomplete, or stale flows remain; another sweep may fix it. */
  readonly problem?: Error;
}

/** Tracked connections can be neither read nor removed: no netlink, no permission, or no support in the kernel. */
export class ConntrackUnavailableError extends NamedError {
  constructor(reason: string, options?: ErrorOptions) {
    super(`connection tracking is unavailable: ${reason}`, options);
  }
}
