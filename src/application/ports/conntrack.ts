import type { FlowQuery } from '../../domain/conntrack/doubts.js';
import type { Flow } from '../../domain/conntrack/flow.js';
import type { IpFamily } from '../../domain/net/ip-family.js';

/**
 * The kernel's table of tracked connections. Memory does not grow with the table, and no call keeps others from their
 * turn for long. Calls may be made side by side.
 */
export interface Conntrack {
  /**
   * Walks through the UDP flows of a family that match the query and removes those that `isStale` picks. It may be shown
   * flows that do not match, and the same flow twice, but none that is not UDP; a flow is only good during that call. A
   * flow that is gone by itself in the meantime is no error, one that began anew is spared. What was removed stays
   * removed when the walk fails later.
   * @throws ConntrackUnavailableError when there is no way to the table; no later call will do better
   * @throws the signal's reason when aborted
   */
  sweep(
    family: IpFamily,
    query: FlowQuery,
    isStale: (flow: Flow) => boolean,
    signal: AbortSignal,
  ): Promise<SweepResult>;

  /** Waits for what is under way and releases everything. Idempotent. */
  close(): Promise<void>;
}

/** What a walk through the table came to. */
export interface SweepResult {
  readonly examined: number;
  readonly deleted: number;
  /** Why the walk is not complete, or stale flows are still there; another sweep may mend it. */
  readonly problem?: Error;
}

/** Tracked connections cannot be read or removed from here: no netlink, no permission, no such thing in the kernel. */
export class ConntrackUnavailableError extends Error {
  constructor(reason: string, options?: ErrorOptions) {
    super(`tracked connections cannot be reached: ${reason}`, options);
    this.name = 'ConntrackUnavailableError';
  }
}
