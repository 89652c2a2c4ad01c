import { endpointPlace } from '../../../src/domain/model/endpoint.js';
import { FakeClock } from '../../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../../src/testing/fakes/memory-logger.js';
import type { IgnoredParts } from '../../../src/application/use-cases/port-events.js';
import { ClusterEvents } from '../../../src/application/use-cases/cluster-events.js';
import { FamilyLoops, type ChangeReceiver } from '../../../src/application/sync/sync-loop.js';
import { ObjectReports } from '../../../src/application/use-cases/object-reports.js';
import type { Node } from '../../../src/domain/model/node.js';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import { ClusterState } from '../../../src/domain/state/cluster-state.js';
import { PendingChanges } from '../../../src/domain/state/pending-changes.js';
import { RecordingObserver } from '../../support/recording-observer.js';

/** A loop that only listens. */
export class ListeningLoop implements ChangeReceiver {
  readonly pending = new PendingChanges();
  private bells = 0;

  constructor(readonly family: IpFamily) {}

  changed(): void {
    this.bells++;
  }

  /** What was noted since the last time; undefined when the bell was not rung. */
  heard(): object | undefined {
    const rung = this.bells > 0;
    this.bells = 0;
    const { services, everyService, node, triggerTimes } = this.pending.dequeue();
    return rung ? { services: [...services], everyService, node, triggerTimes } : undefined;
  }
}

/** What a loop hears of a change of Services and nothing else. */
export function services(...names: string[]): object {
  return { services: names, everyService: false, node: false, triggerTimes: [] };
}

export const NODE_NAME = 'n1';
/** Of one Service. */
export const FRONTENDS_LIMIT = 12;
export const START = Date.parse('2024-05-01T12:00:00Z');

interface BenchOptions {
  readonly ignoredParts?: IgnoredParts;
  readonly logger?: MemoryLogger;
}

/** All use cases of events over fakes. */
export class Bench {
  readonly clock = new FakeClock();
  readonly logger: MemoryLogger;
  readonly state = new ClusterState();
  readonly observer = new RecordingObserver();
  readonly reports: ObjectReports;
  readonly ipv4 = new ListeningLoop('IPv4');
  readonly ipv6 = new ListeningLoop('IPv6');
  readonly nodes: Node[] = [];
  initialized = 0;
  readonly events: ClusterEvents;

  constructor({ ignoredParts, logger = new MemoryLogger() }: BenchOptions = {}) {
    this.logger = logger;
    this.reports = new ObjectReports(logger, this.clock);
    const loops = new FamilyLoops([this.ipv4, this.ipv6]);
    const { state, reports, observer } = this;
    this.events = new ClusterEvents(
      {
        state,
        loops,
        reports,
        observer,
        logger,
        nodeName: NODE_NAME,
        startTime: START,
        serviceFrontendsLimit: FRONTENDS_LIMIT,
        ignoredParts,
        nodeChanged: (node) => this.nodes.push(node),
      },
      { needed: ['Service', 'EndpointSlice'], wanted: ['ServiceCIDR'] },
      this.clock,
      () => this.initialized++,
    );
  }

  heard(): readonly [object | undefined, object | undefined] {
    return [this.ipv4.heard(), this.ipv6.heard()];
  }

  /** Texts of the endpoints of `shop/cart`, unnamed TCP port. */
  endpoints(family: IpFamily = 'IPv4', key = 'shop/cart'): readonly string[] {
    return this.state.endpointsByPort(key, family)({ port: '', protocol: 'TCP' }).map(endpointPlace);
  }
}
