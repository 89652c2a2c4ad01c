import type { ForwardingEntry } from '../../../domain/forwarding/forwarding-entry.js';
import { endpointPlace } from '../../../domain/model/endpoint.js';
import { listedEndpoints } from '../../../domain/model/endpoint-slice.js';
import { timeText } from '../../../domain/model/text.js';
import type { ServiceKey } from '../../../domain/model/service-port-name.js';
import type { IpFamily } from '../../../domain/net/ip-family.js';
import type { ClusterState } from '../../../domain/state/cluster-state.js';
import { misplacedSlices, type KernelObstacle } from '../../../domain/verdict/judge-port.js';
import { worstOf, type Verdict } from '../../../domain/verdict/verdict.js';
import type { HealthCheckState } from '../../../application/health/service-health-checks.js';
import type { EjectionLookup } from '../../../application/status/port-status.js';
import type { EndpointAnswers } from '../../../application/traffic/endpoint-answers.js';
import type {
  ConnectionCounts,
  OpenConnections,
  TerminatingEndpoints,
} from '../../../application/traffic/terminating-endpoints.js';
import type { ServiceVerdicts } from '../../../application/status/service-verdicts.js';
import type { SyncHistory } from '../../../application/status/sync-history.js';
import type { ListedLoop } from '../status/list-services.js';
import { ExplainPort } from './explain-port.js';
import type { EndpointExplanation, Explanation, FamilyExplanation, PortExplanation } from './explanation.js';

const NEVER = new AbortController().signal;

/** The health checks of one family. */
export interface ExplainedHealthChecks {
  readonly family: IpFamily;
  state(service: ServiceKey): HealthCheckState | undefined;
}

/** What explanations are made of. */
export interface ExplainSources {
  readonly state: ClusterState;
  readonly loops: readonly ListedLoop[];
  readonly verdicts: ServiceVerdicts;
  readonly history: SyncHistory;
  readonly healthChecks: readonly ExplainedHealthChecks[];
  /** The mode in force; missing: nftables. */
  readonly mode?: string;
  /** When endpoints were ejected; missing: none is. */
  readonly ejectionTimes?: EjectionLookup | undefined;
  /** What in the kernel's settings stops traffic of a service port; missing: nothing can. */
  readonly obstacles?: ((entry: ForwardingEntry) => Promise<readonly KernelObstacle[]>) | undefined;
  /** Missing: connections are not counted. */
  readonly answers?: Pick<EndpointAnswers, 'read' | 'problem' | 'unanswered' | 'open'> | undefined;
  /** Endpoints that terminate, and connections that lead there; missing: not known. */
  readonly terminating?: Pick<TerminatingEndpoints, 'since'> & Pick<OpenConnections, 'to'>;
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
    const { verdicts, ejectionTimes, mode, answers } = sources;
    this.ports = new ExplainPort(verdicts, ejectionTimes, mode, answers);
  }

  /** Asks the cluster about a Service that is not known here. Never rejects. */
  async service(service: ServiceKey): Promise<Explanation> {
    const { state, verdicts, loops, answers } = this.sources;
    const known = state.service(service) !== undefined;
    if (known) await answers?.read();
    const counts = known ? await this.connections(service) : undefined;
    const families = await Promise.all(loops.map((loop) => this.family(loop, service, counts)));
    const all = [await verdicts.find(service), ...verdictsOfPorts(families)];
    const candidates =
      known && state.slicesOf(service).length === 0
        ? misplacedSlices(state, service, (other) => verdicts.of(other) !== undefined)
        : [];
    return {
      service,
      known,
      verdict: worstOf(all)!,
      objects: verdicts.objects(service),
      ...(candidates.length > 0 && { candidates }),
      ...(known && answers?.problem !== undefined && { uncountedReason: answers.problem }),
      families,
    };
  }

  /** Those to its endpoints that terminate; undefined if none does. */
  private connections(service: ServiceKey): Promise<ConnectionCounts> | undefined {
    const { state, terminating } = this.sources;
    const ending = state
      .slicesOf(service)
      .flatMap(({ ports: [port] }) => (port ? listedEndpoints(port) : []))
      .filter((endpoint) => endpoint.terminating);
    return ending.length > 0
      ? terminating?.to(new Set(ending.map(({ address }) => address)), NEVER)
      : undefined;
  }

  private async family(
    loop: ListedLoop,
    service: ServiceKey,
    counts: ConnectionCounts | undefined,
  ): Promise<FamilyExplanation> {
    const { family } = loop;
    const pending = loop.isWaiting(service);
    const pendingSeconds = pending ? this.sources.waitingSeconds(family) : undefined;
    const absence = this.absence(loop, service);
    const healthCheck = this.sources.healthChecks.find((checks) => checks.family === family)?.state(service);
    return {
      family,
      pending,
      ...(pendingSeconds !== undefined && { pendingSeconds }),
      ports: await Promise.all(
        loop.table
          .entriesOf(service)
          .map(async (entry) =>
            this.withConnections(this.ports.port(entry, await this.sources.obstacles?.(entry)), counts),
          ),
      ),
      ...(absence && { absence }),
      ...(healthCheck && { healthCheck }),
      sync: this.sources.history.of(family),
    };
  }

  /** With the exact numbers of endpoints that terminate. */
  private withConnections(port: PortExplanation, counts: ConnectionCounts | undefined): PortExplanation {
    const { terminating } = this.sources;
    if (!counts || !terminating) return port;
    const endpoints = port.endpoints.map((endpoint): EndpointExplanation => {
      const since = endpoint.terminating ? terminating.since(endpoint.address) : undefined;
      if (since === undefined) return endpoint;
      const openConnections =
        'counts' in counts
          ? (counts.counts.get(`${port.protocol} ${endpointPlace(endpoint)}`) ?? 0)
          : undefined;
      return { ...endpoint, openConnections, terminatingSinceTime: timeText(since) };
    });
    return { ...port, endpoints };
  }

  private absence(loop: ListedLoop, service: ServiceKey): Verdict | undefined {
    const served = this.sources.state.service(service);
    if (!served || loop.table.has(service)) return undefined;
    if (served.clusterIPs[loop.family] === undefined)
      return { state: 'ok', reason: 'no cluster IP of this family' };
    return this.sources.verdicts.absence(loop, service, served);
  }
}

/** The verdicts on service ports and on what families lack. */
export function verdictsOfPorts(families: readonly FamilyExplanation[]): readonly Verdict[] {
  return families.flatMap(({ absence, ports }) => [
    ...(absence ? [absence] : []),
    ...ports.flatMap(({ verdicts }) => verdicts),
  ]);
}
