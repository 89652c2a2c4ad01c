import type { ForwardingEntry } from '../../domain/forwarding/forwarding-entry.js';
import type { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import type { ServiceKey } from '../../domain/model/service-port-name.js';
import { cidrText } from '../../domain/net/cidr.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { HealthCheckState } from '../health/service-health-check.js';
import type { FailedPort, ServiceStatuses } from '../status/service-statuses.js';
import type { FamilyHistory, SyncHistory } from '../status/sync-history.js';
import {
  frontendReason,
  missingPortReason,
  type EndpointExplanation,
  type Explanation,
  type FamilyExplanation,
  type PortExplanation,
  type PortStatus,
} from './explanation.js';
import type { ObjectReports } from './object-reports.js';

/** The part of a sync loop that is read. */
export interface ExplainedLoop {
  readonly family: IpFamily;
  readonly table: ForwardingTable;
  readonly pending: { readonly serviceCount: number };
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

/**
 * Use case Explain: what the proxy has done with a Service and why, from the forwarding table, the statuses and the objects of
 * the cluster. Changes nothing. Costs what the Service has.
 */
export class Explain {
  constructor(
    private readonly state: ClusterState,
    private readonly loops: readonly ExplainedLoop[],
    private readonly statuses: ServiceStatuses,
    private readonly reports: ObjectReports,
    private readonly history: SyncHistory,
    private readonly healthChecks: readonly ExplainedHealthChecks[],
  ) {}

  overview(): Overview {
    return {
      families: this.loops.map(({ family, pending }) => ({
        family,
        programmed: this.statuses.counts(family).programmed,
        waiting: pending.serviceCount,
        failed: this.statuses.failures(family),
        sync: this.history.of(family),
      })),
      rejected: this.reports.unusable,
    };
  }

  service(service: ServiceKey): Explanation {
    const families = this.loops.map((loop) => this.family(loop, service));
    return {
      service,
      known: this.state.service(service) !== undefined,
      problems: this.reports.about(service, this.state.sliceNames(service)),
      families,
    };
  }

  private family(loop: ExplainedLoop, service: ServiceKey): FamilyExplanation {
    const { family } = loop;
    const healthCheck = this.healthChecks.find((checks) => checks.family === family)?.state(service);
    return {
      family,
      waiting: loop.isWaiting(service),
      ports: loop.table.entriesOf(service).map((entry) => this.port(entry, service)),
      ...(healthCheck && { healthCheck }),
      sync: this.history.of(family),
    };
  }

  private port(entry: ForwardingEntry, service: ServiceKey): PortExplanation {
    const { name, family, frontends, affinitySeconds, sourceRanges } = entry;
    const identity = { port: name.port, protocol: name.protocol };
    const missingPort = missingPortReason(identity, this.state.slicePorts(service, family));
    const reachable = new Set(entry.endpoints.reachable.map(({ text }) => text));
    return {
      ...identity,
      status: this.status(entry),
      frontends: frontends.map((frontend) => ({
        ...frontend,
        reason: missingPort ?? frontendReason(entry, frontend),
      })),
      endpoints: this.state
        .endpoints(service, family, identity)
        .map(({ text, ...endpoint }): EndpointExplanation => ({ ...endpoint, used: reachable.has(text) })),
      affinitySeconds,
      sourceRanges: sourceRanges.map(cidrText),
    };
  }

  private status({ key, family }: ForwardingEntry): PortStatus {
    return this.statuses.get(family, key) ?? { state: 'pending' };
  }
}
