import type { Node } from '../../domain/model/node.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { PendingChanges } from '../../domain/state/pending-changes.js';
import type { ObjectReference } from '../ports/cluster-source.js';
import type { Logger } from '../ports/logger.js';
import type { SyncObserver } from '../ports/sync-observer.js';
import type { IgnoredParts } from './port-events.js';
import type { ObjectReports } from './object-reports.js';

/** Handles the objects of one kind as a source delivers them: decodes each, and calls the use case that it is for. */
export interface ObjectHandler {
  applied(object: unknown): void;
  deleted(reference: ObjectReference): void;
  /** The initial list has been delivered. */
  synced(): void;
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
  /** How many frontends one Service may have; 0 for any number. */
  readonly serviceFrontendsLimit: number;
  /** Called with the ignored parts of a Service or EndpointSlice. */
  readonly ignoredParts?: IgnoredParts | undefined;
  /** Called when this node's Node object has changed. */
  readonly nodeChanged: (node: Node) => void;
}

/** A sync loop as use cases see it: a queue of changes, and a wake-up call. */
export interface ChangeReceiver {
  readonly family: IpFamily;
  readonly pending: PendingChanges;
  changed(): void;
}

/** The loops of the families that this node serves. */
export class FamilyLoops {
  constructor(private readonly loops: readonly ChangeReceiver[]) {}

  /** Queues a change for these families, and wakes their loops. Families that are not served are skipped. */
  note(families: readonly IpFamily[], change: (pending: PendingChanges) => void): void {
    for (const loop of this.loops) {
      if (!families.includes(loop.family)) continue;
      change(loop.pending);
      loop.changed();
    }
  }
}
