import 'reflect-metadata'; // inversify needs it first
import { Container } from 'inversify';
import type { HealthServer } from '../adapters/health/health-server.js';
import type { Routes } from '../adapters/http/router.js';
import type { MetricsServer, ScrapeServer } from '../adapters/metrics/metrics-server.js';
import type { LocalhostRelay } from '../adapters/endpoint-connections.js';
import type { EjectUnresponsiveEndpoints } from '../application/failover/eject-unresponsive-endpoints.js';
import type { CheckForwarding } from '../application/health/check-forwarding.js';
import type { ForwardingObstacles } from '../application/node/forwarding-obstacles.js';
import type { HealthCheckListener } from '../application/ports/health.js';
import type { Conntrack } from '../application/ports/node/conntrack.js';
import type { ServiceLookup, ClusterSource, ObjectSink } from '../application/ports/cluster-source.js';
import type { BalanceByConnections } from '../application/traffic/balance-by-connections.js';
import type { TrafficMetrics } from '../application/traffic/traffic-metrics.js';
import type { EndpointAnswers } from '../application/traffic/endpoint-answers.js';
import type { OpenConnections, TerminatingEndpoints } from '../application/traffic/terminating-endpoints.js';
import type { TrafficWatchers } from '../application/traffic/traffic-watchers.js';
import type { IpFamily } from '../domain/net/ip-family.js';
import type { Part } from './life-cycle.js';
import type { OpenMode } from './modes/mode.js';
import type { ApiClient } from '../adapters/kubernetes/client/api-client.js';
import type {
  PacketCounters,
  PrometheusMetrics,
  RejectedPackets,
} from '../adapters/metrics/prometheus-metrics.js';
import type { ProxyHealth } from '../application/health/proxy-health.js';
import type { Readiness } from '../application/health/readiness.js';
import type { AwaitNode, NodeTimeouts } from '../application/node/await-node.js';
import type { CheckNode } from '../application/node/check-node.js';
import type { NodeContexts } from '../application/node/node-contexts.js';
import type { Clock } from '../application/ports/clock.js';
import type { EventRecorder } from '../application/ports/event-recorder.js';
import type { Logger } from '../application/ports/logger.js';
import type { LocalAddresses } from '../application/ports/node/network.js';
import type { SyncObserver } from '../application/ports/sync-observer.js';
import type { ChangeHistory } from '../application/status/change-history.js';
import type { NodeState } from '../application/status/node-state.js';
import type { RemainingRules } from '../application/status/remaining-rules.js';
import type { ServiceStatuses } from '../application/status/service-statuses.js';
import type { ServiceVerdicts } from '../application/status/service-verdicts.js';
import type { LastingProblems } from '../application/use-cases/port-events.js';
import type { SyncHistory } from '../application/status/sync-history.js';
import type { ClusterEvents } from '../application/use-cases/cluster-events.js';
import type { FamilyLoops } from '../application/sync/sync-loop.js';
import type { ObjectReports } from '../application/use-cases/object-reports.js';
import type { ClusterState } from '../domain/state/cluster-state.js';
import type { CommandLine, LiveConfiguration } from './configuration/command-line.js';
import type { LocalhostNodePorts } from '../application/localhost/localhost-node-ports.js';
import type { ServiceHealthChecks } from '../application/health/service-health-checks.js';
import type { SyncLoop } from '../application/sync/sync-loop.js';
import type { ReconcileConntrack } from '../application/use-cases/reconcile-conntrack.js';
import type { ResetDeadConnections } from '../application/use-cases/reset-dead-connections.js';

/** The parts that read objects and decide what follows from them for this node. The diagnostics read them. */
export interface ReadingParts {
  /** The command line as it was at the start. */
  readonly commandLine: CommandLine;
  readonly live: LiveConfiguration;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly localAddresses: LocalAddresses;

  readonly state: ClusterState;
  readonly source: ClusterSource;
  readonly clusterEvents: ClusterEvents;
  /** Where the source delivers objects: `clusterEvents`, or an addition in front of it. */
  readonly objectSink: ObjectSink;
  readonly reports: ObjectReports;
  readonly terminatingEndpoints: TerminatingEndpoints;

  readonly checkNode: CheckNode;
  readonly awaitNode: AwaitNode;
  readonly contexts: NodeContexts;

  /** The parts of each family, the primary one first. Empty if nothing is served. */
  readonly served: readonly ServedFamily[];
  readonly statuses: ServiceStatuses;
  readonly serviceVerdicts: ServiceVerdicts;
  readonly syncHistory: SyncHistory;
  readonly changeHistory: ChangeHistory;
  readonly remainingRules: RemainingRules;
  readonly health: ProxyHealth;
  readonly metrics: PrometheusMetrics;
}

/** All parts of what reads objects and serves nothing. */
export interface ReaderParts extends ReadingParts {
  /** The families that this node can serve, the primary one first. */
  readonly families: readonly IpFamily[];
  /** The one client of the API server, made when it is first called for. */
  readonly apiClient: () => Promise<ApiClient>;
  /** It may have a `stop`, which gives events that wait a moment to be delivered. */
  readonly eventRecorder: EventRecorder & { stop?(): Promise<void> };
  /** How long to wait for this node's Node object. */
  readonly nodeTimeouts: NodeTimeouts;
  readonly loops: FamilyLoops;
  readonly syncObserver: SyncObserver;
  /** Records the problems of Services that all nodes have as events. */
  readonly lastingProblems: LastingProblems;
  readonly readiness: Readiness;
  /** Undefined where nothing counts packets. */
  readonly packetCounters: PacketCounters | undefined;
  /** Undefined in modes that reject none. */
  readonly rejectedPackets: RejectedPackets | undefined;
}

/** The parts of a proxy that its diagnostics read. */
export interface DiagnosedParts extends ReadingParts {
  /** The mode in force. */
  readonly mode: OpenMode;
  /** Undefined: nothing is forwarded by the kernel. */
  readonly forwardingObstacles: ForwardingObstacles | undefined;
  /** Undefined: not configured, or this program does not forward by its own rules. */
  readonly checkForwarding: CheckForwarding | undefined;
  readonly nodeState: NodeState;
  readonly trafficWatchers: TrafficWatchers;
  readonly endpointAnswers: EndpointAnswers;
  readonly openConnections: OpenConnections;
  /** Undefined: unresponsive endpoints are not ejected. */
  readonly ejection: EjectUnresponsiveEndpoints | undefined;
  /** Undefined: no mode with slots, or connections are not tracked. */
  readonly balancing: BalanceByConnections | undefined;
  /** Undefined where the source delivers every Service. */
  readonly serviceLookup: ServiceLookup | undefined;
}

/** All parts of a proxy. Each exists once. */
export interface ProxyParts extends ReaderParts, DiagnosedParts {
  /** Sets what the proxy needs of the machine besides rules. Idempotent. */
  readonly setUpMachine: () => Promise<void>;
  /**
   * `promise` resolves when rules may be written: the Node is known and checked, the machine is set up. It rejects when that
   * failed, as `failure` does, which never resolves.
   */
  readonly ready: { readonly promise: Promise<void>; readonly failure: Promise<never> };
  /** Undefined: tracked connections are left alone. */
  readonly conntrack: Conntrack | undefined;
  /** Undefined: health-check node ports stay closed. */
  readonly healthCheckListener: HealthCheckListener | undefined;
  /** Undefined: the proxy listens on no node ports. */
  readonly localhostRelay: LocalhostRelay | undefined;
  /** Undefined: not configured, as with the servers. */
  readonly trafficMetrics: TrafficMetrics | undefined;
  /** The metrics server's routes as in kube-proxy, except profiles. */
  readonly metricsRoutes: Routes;
  readonly metricsServer: MetricsServer | undefined;
  readonly scrapeServer: ScrapeServer | undefined;
  readonly healthServer: HealthServer | undefined;
  /** Everything that runs, in the order in which it starts. */
  readonly running: readonly Part[];
}

/** The parts of one IP family. */
export interface ServedFamily {
  readonly family: IpFamily;
  readonly loop: SyncLoop;
  /** Undefined: health-check node ports stay closed. */
  readonly healthChecks: ServiceHealthChecks | undefined;
  /** Undefined: the proxy listens on no node ports. */
  readonly localhostNodePorts: LocalhostNodePorts | undefined;
  /** Removes stale flows, one for each protocol. Empty: tracked connections are left alone. */
  readonly conntrack: readonly ReconcileConntrack[];
  /** One for each protocol that has them. Empty: connections of endpoints that are gone are left to their clients. */
  readonly resets: readonly ResetDeadConnections[];
}

/** How each part is made from others. Making has no effects: nothing is opened, started or logged. */
export type Providers<Parts> = { readonly [Name in keyof Parts]: (parts: Parts) => Parts[Name] };

/**
 * Parts by their names, each made once, when it is first needed. Only the code that puts a program together reads parts from here;
 * a part gets the others that it needs.
 */
export function makeParts<Parts extends object>(providers: Providers<Parts>): Parts {
  const container = new Container({ defaultScope: 'Singleton' });
  const parts = new Proxy({} as Parts, { get: (_, name) => container.get(name) });
  for (const [name, make] of Object.entries(providers) as [string, (parts: Parts) => unknown][])
    container.bind(name).toDynamicValue(() => make(parts));
  return parts;
}
