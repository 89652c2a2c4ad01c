import type { ServiceKey } from '../../domain/model/service-port-name.js';

/** The kinds that the proxy reads. `Endpoints` only from manifests and clusters without EndpointSlices. */
export type ResourceKind = 'Service' | 'EndpointSlice' | 'Endpoints' | 'Node' | 'ServiceCIDR';

/** Identity of an object. Cluster-scoped kinds have the namespace "". */
export interface ObjectReference {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Where sources deliver objects. Objects arrive raw, as decoded JSON: the receiver validates them, reports and ignores invalid
 * ones, and never throws. Calls are synchronous and cheap; the receiver batches.
 */
export interface ObjectSink {
  /** The object was added or changed. Delivering an unchanged object again is allowed and has no effect. */
  applied(kind: ResourceKind, object: unknown): void;
  deleted(kind: ResourceKind, reference: ObjectReference): void;
  /**
   * The initial list of this kind has been delivered completely. Once per kind; idempotent. The first sync waits for Service,
   * EndpointSlice and Node, and after them up to a second for ServiceCIDR.
   */
  synced(kind: ResourceKind): void;
}

/**
 * A source of objects: an API server, manifest files, an embedder's own. `start` begins delivery and resolves when the source
 * runs, not when it is synced. It rejects only on errors that retrying does not fix; connection failures are retried inside,
 * with backoff. `stop` ends delivery and releases everything; it is idempotent.
 */
export interface ClusterSource {
  start(sink: ObjectSink, signal: AbortSignal): Promise<void>;
  stop(): Promise<void>;
  /** Currently unreadable or invalid objects, which are ignored, each with its place and the reason, for people. */
  readonly problems: readonly string[];
  /**
   * In the middle of delivering what it has read, as a file of many objects: the objects so far are no complete state.
   * Missing: the source cannot report it.
   */
  readonly delivering?: boolean;
  /** How fresh each kind is that can go stale; empty before `start`, and for sources that cannot go stale. Cheap. */
  status(): readonly SourceStatus[];
}

/** The state of mirroring one kind; the cluster does not offer an `absent` kind. */
export type SourceState = 'listing' | 'watching' | 'backing-off' | 'absent' | 'stopped';

/** How fresh a kind is. */
export interface SourceStatus {
  readonly kind: ResourceKind;
  readonly state: SourceState;
  /** The initial list was delivered, or the cluster does not have the kind. */
  readonly synced: boolean;
  /** A watch is open. */
  readonly connected: boolean;
  /** Objects known. */
  readonly objects: number;
  /** How often the server went back to an older state, as after a restore from a backup. */
  readonly rewinds?: number;
  /** How often the server ended a watch immediately, without an event. */
  readonly shortWatches?: number;
  /** When the server last sent anything, in milliseconds since the epoch. */
  readonly lastActivity?: number;
  /** Why the last request failed, until one succeeds. */
  readonly failure?: string;
}

/**
 * Looks for one Service in the cluster, also of the kinds that its source leaves out because no proxy needs them: headless
 * ones, and those of another proxy. For explanations, never for forwarding.
 */
export interface ServiceLookup {
  /**
   * The object, raw; undefined if there is none. Costs one request. Rejects if the request fails; the caller reports
   * that and does not retry.
   */
  find(service: ServiceKey): Promise<unknown>;
}
