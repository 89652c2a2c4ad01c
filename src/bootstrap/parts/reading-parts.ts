import type { ApiClient } from '../../adapters/kubernetes/client/api-client.js';
import type {
  PacketCounters,
  PrometheusMetrics,
  RejectedPackets,
} from '../../adapters/metrics/prometheus-metrics.js';
import type { LiveConfiguration } from '../../application/live-configuration.js';
import type { ProxyHealth } from '../../application/health/proxy-health.js';
import type { Readiness } from '../../application/health/readiness.js';
import type { AwaitNode, NodeTimeouts } from '../../application/node/await-node.js';
import type { CheckNode } from '../../application/node/check-node.js';
import type { NodeContexts } from '../../application/node/node-contexts.js';
import type { Clock } from '../../application/ports/clock.js';
import type { ClusterSource } from '../../application/ports/cluster-source.js';
import type { EventRecorder } from '../../application/ports/event-recorder.js';
import type { Logger } from '../../application/ports/logger.js';
import type { LocalAddresses } from '../../application/ports/node/local-addresses.js';
import type { SyncObserver } from '../../application/ports/sync-observer.js';
import type { ChangeHistory } from '../../application/status/change-history.js';
import type { RemainingRules } from '../../application/status/remaining-rules.js';
import type { ServiceStatuses } from '../../application/status/service-statuses.js';
import type { SyncHistory } from '../../application/status/sync-history.js';
import type { ClusterEvents } from '../../application/use-cases/cluster-events.js';
import type { ObjectReports } from '../../application/use-cases/object-reports.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { ClusterState } from '../../domain/state/cluster-state.js';
import type { CommandLine } from '../configuration/command-line.js';
import type { ServedFamily } from '../family/served-family.js';
import type { Providers } from '../injection/container.js';

/** What reads objects and knows what follows from them for this node, whether or not anything is written. */
export interface ReadingParts {
  /** The command line as it was at the start. */
  readonly commandLine: CommandLine;
  /** The command line in force: edits of the configuration file change it. */
  readonly live: LiveConfiguration<CommandLine>;
  /** The families that this node can serve, the primary one first. */
  readonly families: readonly IpFamily[];
  readonly logger: Logger;
  readonly clock: Clock;
  readonly localAddresses: LocalAddresses;

  readonly state: ClusterState;
  readonly source: ClusterSource;
  readonly clusterEvents: ClusterEvents;
  readonly reports: ObjectReports;
  /** The one client of the API server, made when it is first called for. */
  readonly apiClient: () => Promise<ApiClient>;
  /** It may have a `stop`, which gives events that wait a moment to be delivered. */
  readonly eventRecorder: EventRecorder & { stop?(): Promise<void> };

  readonly checkNode: CheckNode;
  readonly awaitNode: AwaitNode;
  /** How long to wait for this node's Node object. */
  readonly nodeTimeouts: NodeTimeouts;
  readonly contexts: NodeContexts;

  /** What runs for each family, in the order of `families`. */
  readonly served: readonly ServedFamily[];
  readonly statuses: ServiceStatuses;
  readonly syncHistory: SyncHistory;
  readonly changeHistory: ChangeHistory;
  readonly syncObserver: SyncObserver;
  readonly remainingRules: RemainingRules;
  readonly health: ProxyHealth;
  readonly readiness: Readiness;
  readonly metrics: PrometheusMetrics;
  /** Undefined where nothing counts packets. */
  readonly packetCounters: PacketCounters | undefined;
  /** Undefined in modes that reject none. */
  readonly rejectedPackets: RejectedPackets | undefined;
}

/** What a backend is made of. */
export type BackendParts = ReadingParts & { readonly family: IpFamily };

/** How some of these parts are made. */
export type ReadingModule = Partial<Providers<ReadingParts>>;
