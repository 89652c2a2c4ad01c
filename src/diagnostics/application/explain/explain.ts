import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { AsideLookup } from '../../../application/failover/aside-lookup.js';
import type { HealthCheckState } from '../../../application/health/service-health-checks.js';
import type { ForwardingObstacle } from '../../../application/node/forwarding-obstacles.js';
import type { LocalhostLookup } from '../../../application/localhost/localhost-lookup.js';
import type { ListedLoop } from '../status/list-services.js';
import type { ServiceStatuses } from '../../../application/status/service-statuses.js';
import type { SyncHistory } from '../../../application/status/sync-history.js';
import type { ObjectReports } from '../../../application/use-cases/object-reports.js';
import { ExplainPort } from './explain-port.js';
import type { Absence, Explanation, FamilyExplanation } from './explanation.js';
import { heldBack } from './held-back.js';
import type { UnservedServices } from './unserved-services.js';

/** The health checks of one family. */
export interface ExplainedHealthChecks {
  readonly family: IpFamily;
  state(service: ServiceKey): HealthCheckState | undefined;
}

/** What explanations are made of. */
export interface ExplainSources {
  readonly state: ClusterState;
  readonly loops: readonly ListedLoop[];
  readonly statuses: ServiceStatuses;
  readonly reports: ObjectReports;
  readonly history: SyncHistory;
  readonly healthChecks: readonly ExplainedHealthChecks[];
  readonly unserved: UnservedServices;
  /** Missing: the proxy listens on no node ports. */
  readonly localhost?: LocalhostLookup;
  /** The mode in force; missing: nftables. */
  readonly mode?: string;
  /** When endpoints stepped aside; missing: none does. */
  readonly asideTimes?: AsideLookup | undefined;
  /** What in the kernel's settings stops traffic of a service port; missing: nothing can. */
  readonly obstacles?: ((entry: ForwardingEntry) => Promise<readonly ForwardingObstacle[]>) | undefined;
  /** Seconds since the oldest change of the family arrived that is not in the kernel; undefined if all are. */
  waitingSeconds(family: IpFamily): number | undefined;
}

/**
 * Use case Explain: what the proxy has done with a Service and why, from the forwarding table, the statuses and the objects of
 * the cluster. Changes nothing. Costs what the Service has; one without slices costs a search for them.
 */
export class Explain {
  private readonly ports: ExplainPort;

  constructor(private readonly sources: ExplainSources) {
    const { state, statuses, loops, asideTimes, localhost, mode } = sources;
    this.ports = new ExplainPort(state, statuses, loops, asideTimes, localhost, mode);
  }

  /** Asks the cluster about a Service that is not known here. Never rejects. */
  async service(service: ServiceKey): Promise<Explanation> {
    const problems = this.sources.reports.about(service, this.sources.state.sliceNames(service));
    const unserved = this.sources.state.service(service)
      ? undefined
      : await this.sources.unserved.why(service);
    return {
      service,
      known: unserved === undefined,
      ...(unserved && { unserved }),
      problems,
      families: await Promise.all(this.sources.loops.map((loop) => this.family(loop, service))),
    };
  }

  private async family(loop: ListedLoop, service: ServiceKey): Promise<FamilyExplanation> {
    const { family } = loop;
    const waiting = loop.isWaiting(service);
    const waitingSeconds = waiting ? this.sources.waitingSeconds(family) : undefined;
    const absence = this.absence(loop, service);
    const healthCheck = this.sources.healthChecks.find((checks) => checks.family === family)?.state(service);
    return {
      family,
      waiting,
      ...(waitingSeconds !== undefined && { waitingSeconds }),
      ports: await Promise.all(
        loop.table
          .entriesOf(service)
          .map(async (entry) => this.ports.port(entry, await this.sources.obstacles?.(entry))),
      ),
      ...(absence && { absence }),
      ...(healthCheck && { healthCheck }),
      sync: this.sources.history.of(family),
    };
  }

  private absence({ family, table, unreadObjects }: ListedLoop, service: ServiceKey): Absence | undefined {
    if (table.has(service)) return undefined;
    if (this.sources.state.service(service)?.clusterIPs[family] === undefined)
      return { kind: 'no-cluster-ip', text: 'no cluster IP of this family' };
    if (unreadObjects.length === 0 || this.sources.state.hasSlices(service, family))
      return { kind: 'not-processed', text: 'not processed yet' };
    return { kind: 'held-back', text: heldBack(unreadObjects) };
  }
}
