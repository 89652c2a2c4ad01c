import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import { NodeContexts, type NodeSettings } from '../../../src/application/node/node-contexts.js';
import type { Backend } from '../../../src/application/ports/backend.js';
import type { SyncObserver, ProgrammedChanges } from '../../../src/application/ports/sync-observer.js';
import { ServiceStatuses } from '../../../src/application/status/service-statuses.js';
import { Sync } from '../../../src/application/use-cases/sync.js';
import { ClusterEvents } from '../../../src/application/use-cases/cluster-events.js';
import { FamilyLoops } from '../../../src/application/sync/sync-loop.js';
import { ObjectReports } from '../../../src/application/use-cases/object-reports.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { PendingChanges } from '../../../src/domain/state/pending-changes.js';

const deaf: SyncObserver = {
  loopStarted: () => undefined,
  queued: () => undefined,
  finished: () => undefined,
  verified: () => undefined,
  repaired: () => undefined,
  dequeued: () => undefined,
  serviceEvent: () => undefined,
  endpointSliceEvent: () => undefined,
};

/** The proxy's own parts from event to backend, put together without a loop: a sync runs when the test says so. */
export class InMemoryProxy {
  readonly logger = new MemoryLogger();
  readonly state = new ClusterState();
  readonly statuses = new ServiceStatuses();
  readonly reports = new ObjectReports(this.logger, new FakeClock());
  readonly contexts: NodeContexts;
  readonly events: ClusterEvents;
  readonly families: ReadonlyMap<
    IpFamily,
    { readonly sync: Sync; readonly pending: PendingChanges; readonly backend: Backend }
  >;

  constructor(backends: readonly Backend[], settings: NodeSettings, localAddresses: () => readonly string[]) {
    const { state, logger, reports } = this;
    this.contexts = new NodeContexts(settings, state, { list: localAddresses }, logger);
    this.families = new Map(
      backends.map((backend) => {
        const sync = new Sync(state, backend, this.contexts, this.statuses, new FakeClock(), logger);
        return [backend.family, { sync, pending: new PendingChanges(), backend }];
      }),
    );
    const loops = new FamilyLoops(
      [...this.families].map(([family, { pending }]) => ({ family, pending, changed: () => undefined })),
    );
    this.events = new ClusterEvents(
      {
        state,
        loops,
        reports,
        observer: deaf,
        logger,
        nodeName: settings.nodeName,
        startTime: 0,
        serviceFrontendsLimit: 0,
        nodeChanged: () => undefined,
      },
      { needed: [], wanted: [] },
      new FakeClock(),
      () => undefined,
    );
  }

  /** One sync of each family with what has come since the last. */
  async sync(): Promise<readonly ProgrammedChanges[]> {
    const results: ProgrammedChanges[] = [];
    for (const { sync, pending } of this.families.values())
      results.push(await sync.program(pending.dequeue()));
    return results;
  }

  /** Verifies each family as the loop does: what may have changed about the node first. */
  async verify(how: 'quick' | 'full'): Promise<number> {
    let written = 0;
    for (const { backend } of this.families.values()) written += (await backend.verify(how)).written;
    return written;
  }
}
