import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import type { EjectionLookup } from '../../../application/status/port-status.js';
import type { HealthCheckState } from '../../../application/health/service-health-checks.js';
import type { ForwardingObstacle } from '../../../application/node/forwarding-obstacles.js';
import type { LocalhostLookup } from '../../../application/status/port-status.js';
import type { ListedLoop } from '../status/list-services.js';
import type { ServiceStatuses } from '../../../application/status/service-statuses.js';
import type { SyncHistory } from '../../../application/status/sync-history.js';
import type { ObjectReports } from '../../../application/use-cases/object-reports.js';
import { ExplainPort } from './explain-port.js';
import type { Absence, Explanation, FamilyExplanation, Unserved } from './explanation.js';
import { readService } from '../../../domain/decode/read-service.js';
import type { NotProxiedKind } from '../../../domain/model/service.js';
import { errorMessage } from '../../../application/error-message.js';
import type { ServiceLookup } from '../../../application/ports/cluster-source.js';

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
  /** When endpoints were ejected; missing: none is. */
  readonly asideTimes?: EjectionLookup | undefined;
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
      pending: waiting,
      ...(waitingSeconds !== undefined && { pendingSeconds: waitingSeconds }),
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
    return { kind: 'held-back', text: deferredReason(unreadObjects) };
  }
}

/**
 * Why a Service without slices, but with rules from before, is not programmed while some objects are unreadable.
 * @param unread what could not be read since the start
 */
function deferredReason(unread: readonly string[]): string {
  return `it has no EndpointSlice, and what could not be read may contain one; its rules from before the start stay until everything has been readable (first: ${unread[0]})`;
}

const TEXTS: Readonly<Record<NotProxiedKind, string>> = {
  headless: 'it is headless (clusterIP None): its name resolves to its pods, and no proxy is needed',
  'external-name': 'its type is ExternalName: its name resolves to another name, and no proxy is needed',
  'other-proxy': 'its label service.kubernetes.io/service-proxy-name gives it to another proxy',
  'no-cluster-ip': 'it has no cluster IP yet',
};

/** How many namesakes are named. */
const MOST_NAMESAKES = 3;

/** Tells why a Service is not served. */
export class UnservedServices {
  constructor(
    private readonly state: ClusterState,
    private readonly reports: ObjectReports,
    /** Undefined where every Service is delivered, as from manifests. */
    private readonly lookup: ServiceLookup | undefined,
  ) {}

  /** Why this Service, which has no valid version here, is not served. Asks the cluster, if it is not known here. */
  async why(service: ServiceKey): Promise<Unserved> {
    const kind = this.state.notProxiedKind(service);
    if (kind !== undefined) return { kind, text: TEXTS[kind] };
    const problems = this.reports
      .about(service, [])
      .filter((problem) => problem.includes(`Service ${service}`));
    if (problems.length > 0)
      return { kind: 'invalid', text: `its object is invalid: ${problems.join('; ')}` };
    try {
      const raw = await this.lookup?.find(service);
      if (raw === undefined) return { kind: 'absent', text: this.absence(service) };
      const { ignored } = readService(raw);
      if (ignored !== undefined) return { kind: ignored, text: TEXTS[ignored] };
      return { kind: 'undelivered', text: 'it exists, but its news has not arrived yet' };
    } catch (error) {
      const reason = errorMessage(error);
      return {
        kind: 'undelivered',
        text: `it is not among the Services that are delivered to this node; whether it is headless, of another proxy, or absent is not known, because the cluster cannot be asked: ${reason}`,
      };
    }
  }

  private absence(service: ServiceKey): string {
    const [namespace = '', name = ''] = service.split('/');
    const namesakes = [...this.state.serviceKeys()]
      .filter((key) => key.endsWith(`/${name}`))
      .slice(0, MOST_NAMESAKES);
    const others = namesakes.length === 0 ? '' : `; of that name there is ${namesakes.sort().join(', ')}`;
    return `there is no Service ${name} in namespace ${namespace}${others}`;
  }
}
