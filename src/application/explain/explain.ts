import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import { endpointPlace } from '../../domain/model/endpoint.js';
import type { ServiceKey } from '../../domain/model/service-port-name.js';
import { cidrText } from '../../domain/net/cidr.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { HealthCheckState } from '../health/service-health-check.js';
import type { FailedPort, ServiceStatuses } from '../status/service-statuses.js';
import type { FamilyHistory, SyncHistory } from '../status/sync-history.js';
import type { ObjectReports } from '../use-cases/object-reports.js';
import type {
  Absence,
  EndpointExplanation,
  Explanation,
  FamilyExplanation,
  PortExplanation,
} from './explanation.js';
import { heldBack } from './held-back.js';
import { findingsOf, frontendReason, unusedReason } from './findings.js';
import { misplacedSlices } from './misplaced-slices.js';
import type { UnservedServices } from './unserved-services.js';

/** The part of a sync loop that is read. */
export interface ExplainedLoop {
  readonly family: IpFamily;
  readonly table: ForwardingTable;
  readonly pending: { readonly serviceCount: number };
  /** What could not be read since the start. */
  readonly keptFor: readonly string[];
  isWaiting(service: ServiceKey): boolean;
}

/** The health checks of one family. */
export interface ExplainedHealthChecks {
  readonly family: IpFamily;
  state(service: ServiceKey): HealthCheckState | undefined;
}

/** A summary of all Services. */
export interface Overview {
  readonly families: readonly {
    readonly family: IpFamily;
    /** Service ports. */
    readonly programmed: number;
    /** Services that wait for the next sync. */
    readonly waiting: number;
    readonly failed: readonly FailedPort[];
    readonly sync: FamilyHistory;
  }[];
  /** Objects that are ignored, with the reason. */
  readonly rejected: readonly string[];
}

/** What explanations are made of. */
export interface ExplainSources {
  readonly state: ClusterState;
  readonly loops: readonly ExplainedLoop[];
  readonly statuses: ServiceStatuses;
  readonly reports: ObjectReports;
  readonly history: SyncHistory;
  readonly healthChecks: readonly ExplainedHealthChecks[];
  readonly unserved: UnservedServices;
  /** Seconds since the oldest change of the family arrived that is not in the kernel; undefined if all are. */
  waitingSeconds(family: IpFamily): number | undefined;
}

/**
 * Use case Explain: what the proxy has done with a Service and why, from the forwarding table, the statuses and the objects of
 * the cluster. Changes nothing. Costs what the Service has; one without slices costs a search for them.
 */
export class Explain {
  constructor(private readonly sources: ExplainSources) {}

  overview(): Overview {
    return {
      families: this.sources.loops.map(({ family, pending }) => ({
        family,
        programmed: this.sources.statuses.counts(family).programmed,
        waiting: pending.serviceCount,
        failed: this.sources.statuses.failures(family),
        sync: this.sources.history.of(family),
      })),
      rejected: this.sources.reports.unusable,
    };
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
      families: this.sources.loops.map((loop) => this.family(loop, service)),
    };
  }

  /** What becomes of one service port. */
  port(entry: ForwardingEntry): PortExplanation {
    const { name, family, key, frontends, affinitySeconds, sourceRanges } = entry;
    const service = `${name.namespace}/${name.name}`;
    const identity = { port: name.port, protocol: name.protocol };
    const endpoints = this.sources.state.endpoints(service, family, identity);
    const status = this.sources.statuses.get(family, key);
    const findings = findingsOf({
      entry,
      status,
      endpoints,
      sliceFamilies: [...new Set(this.sources.state.slicesOf(service).map((slice) => slice.family))],
      slicePorts: this.sources.state.slicePorts(service, family),
      misplacedSlices: () => misplacedSlices(this.sources.state, service),
      node: this.sources.state.node,
    });
    const reachable = new Set(entry.endpoints.reachable.map(endpointPlace));
    return {
      ...identity,
      status: status ?? { state: 'pending' },
      frontends: frontends.map((frontend) => ({
        ...frontend,
        reason: frontendReason(entry, frontend, findings),
      })),
      endpoints: endpoints.map((endpoint): EndpointExplanation => {
        const used = reachable.has(endpointPlace(endpoint));
        const reason = used ? undefined : unusedReason(endpoint, entry);
        return { ...endpoint, used, ...(reason !== undefined && { reason }) };
      }),
      findings,
      affinitySeconds,
      sourceRanges: sourceRanges.map(cidrText),
    };
  }

  private family(loop: ExplainedLoop, service: ServiceKey): FamilyExplanation {
    const { family } = loop;
    const waiting = loop.isWaiting(service);
    const waitingSeconds = waiting ? this.sources.waitingSeconds(family) : undefined;
    const absence = this.absence(loop, service);
    const healthCheck = this.sources.healthChecks.find((checks) => checks.family === family)?.state(service);
    return {
      family,
      waiting,
      ...(waitingSeconds !== undefined && { waitingSeconds }),
      ports: loop.table.entriesOf(service).map((entry) => this.port(entry)),
      ...(absence && { absence }),
      ...(healthCheck && { healthCheck }),
      sync: this.sources.history.of(family),
    };
  }

  private absence({ family, table, keptFor }: ExplainedLoop, service: ServiceKey): Absence | undefined {
    if (table.has(service)) return undefined;
    if (this.sources.state.service(service)?.clusterIPs[family] === undefined)
      return { kind: 'no-cluster-ip', text: 'no cluster IP of this family' };
    if (keptFor.length === 0 || this.sources.state.hasSlices(service))
      return { kind: 'not-processed', text: 'not processed yet' };
    return { kind: 'held-back', text: heldBack(keptFor) };
  }
}
