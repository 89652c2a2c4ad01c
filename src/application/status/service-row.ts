import type { ServiceType } from '../../domain/model/service.js';

/** One Service in a list, over both families. */
export interface ServiceRow {
  readonly namespace: string;
  readonly name: string;
  /** Missing for a Service that is not served. */
  readonly type?: ServiceType;
  /** `10.96.0.80:80/TCP`, `[fd00::1]:80/TCP`, and `30080/TCP` for a node port; those of the cluster IPs first. */
  readonly frontends: readonly string[];
  /** Endpoints that traffic of this node may go to, and all that the cluster lists: of each port and family. */
  readonly endpoints: { readonly used: number; readonly known: number };
  readonly state: RowState;
  /** Why it failed, is degraded or is not served. */
  readonly reason?: string;
}

/** `pending`: something about it is not in the kernel yet. `degraded`: programmed, but not as it asks for. */
export type RowState = 'programmed' | 'pending' | 'degraded' | 'failed' | 'not-served';

/** Which Services are listed; all that are served, if nothing is chosen. */
export interface RowFilter {
  readonly namespace?: string;
  /** `NAME`, in any namespace or the one above, or `NAMESPACE/NAME`; empty for all. */
  readonly names: readonly string[];
  /** Only those of which a port failed to be programmed, or is degraded. */
  readonly failing: boolean;
  /** Only those without a used endpoint. */
  readonly withoutEndpoints: boolean;
}

/** The answer of a list. */
export interface ServiceList {
  /** By namespace and name; those that are not served, but asked for by name, come last. */
  readonly services: readonly ServiceRow[];
  /** The names asked for that no known Service has. */
  readonly unknown: readonly UnknownName[];
}

/** A name that no known Service has. */
export interface UnknownName {
  /** As it was asked for. */
  readonly name: string;
  /** What is known about that, and what to do. For people. */
  readonly reason: string;
}
