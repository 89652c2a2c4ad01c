import type { SideMode } from '../../../domain/compare/side.js';
import type { Inspection } from '../../../domain/migration/inspection.js';
import type { ProxyDaemonSet } from '../../../domain/migration/proxy-daemon-set.js';
import { NamedError } from '../../../domain/model/named-error.js';

/** A node could not be looked at: what looks there did not start, did not end in time, or failed. */
export class InspectionError extends NamedError {}

/** What is asked of a node. */
export interface InspectedPlan {
  readonly node: string;
  readonly mode: SideMode;
  /** The mode runs there already: what is left of others is not compared. */
  readonly moved: boolean;
  /** Whose configuration, account and volumes are used. */
  readonly as: ProxyDaemonSet;
}

/** Looks at nodes from the inside. */
export interface NodeInspector {
  /**
   * One look. It changes nothing on the node and leaves nothing in the cluster, also when it fails or is aborted.
   * @throws InspectionError, what the API server refuses, and the signal's reason when it is aborted
   */
  inspect(plan: InspectedPlan, signal: AbortSignal): Promise<Inspection>;
}
