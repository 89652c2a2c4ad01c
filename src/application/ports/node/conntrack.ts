import type { FlowQuery } from '../../../domain/conntrack/suspect-flows.js';
import type { Flow } from '../../../domain/conntrack/flow.js';
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
    isStale: (flow: Flow) => boolean,
    signal: AbortSignal,
  ): Promise<SweepResult>;

  /** Waits for running sweeps and releases everything. Idempotent. */
  close(): Promise<void>;
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
