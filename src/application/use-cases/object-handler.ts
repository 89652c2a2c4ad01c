import type { Node } from '../../domain/model/node.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { Logger } from '../ports/logger.js';
import type { SyncObserver } from '../ports/sync-observer.js';
import type { FamilyLoops } from '../sync/sync-loop.js';
import type { TerminatingEndpoints } from '../traffic/terminating-endpoints.js';
import type { IgnoredParts } from './port-events.js';
import type { ObjectReports } from './object-reports.js';

/** Handles the objects of one kind as a source delivers them: decodes each, and calls the use case that it is for. */
export interface ObjectHandler {
  applied(object: unknown): void;
  deleted(reference: ObjectReference): void;
  /** The initial list has been delivered. */
  synced?(): void;
}

/** The parts that handlers share. */
export interface HandlerParts {
  readonly state: ClusterState;
  readonly loops: FamilyLoops;
  readonly reports: ObjectReports;
  readonly observer: SyncObserver;
  readonly logger: Logger;
  readonly nodeName: string;
  /** Trigger times before this are older than the process and ignored. Milliseconds since the epoch. */
  readonly startTime: number;
  /** Missing: endpoints that terminate are not remembered. */
  readonly terminating?: TerminatingEndpoints | undefined;
  /** How many frontends one Service may have; 0 for any number. */
  readonly serviceFrontendsLimit: number;
  /** Called with the ignored parts of a Service or EndpointSlice. */
  readonly ignoredParts?: IgnoredParts | undefined;
  /** Called when this node's Node object has changed. */
  readonly nodeChanged: (node: Node) => void;
}
