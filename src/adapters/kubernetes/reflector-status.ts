import type { ResourceKind } from '../../application/ports/cluster-source.js';

/** Where a reflector is; see Reflector for the states. */
export type ReflectorState = 'listing' | 'watching' | 'backing-off' | 'absent' | 'stopped';

/** How fresh what is known of a resource is. */
export interface ReflectorStatus {
  readonly kind: ResourceKind;
  readonly state: ReflectorState;
  /** The initial list was delivered, or the cluster does not have the resource. */
  readonly synced: boolean;
  /** A watch is open. */
  readonly connected: boolean;
  /** Objects known. */
  readonly objects: number;
  /** When the server last sent anything, in milliseconds since the epoch. */
  readonly lastActivity?: number;
  /** Why the last request failed, until one succeeds. */
  readonly failure?: string;
}
