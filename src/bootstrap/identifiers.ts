import type { ServiceIdentifier } from 'inversify';
import type { ApiClient } from '../adapters/kubernetes/client/api-client.js';
import type { ApiTimeouts } from '../adapters/kubernetes/client/api-timeouts.js';
import type { ReflectorTimings } from '../adapters/kubernetes/watch/reflector-timings.js';
import type { HealthServer } from '../adapters/health/health-server.js';
import type { MetricsServer } from '../adapters/metrics/metrics-server.js';
import type { PrometheusMetrics } from '../adapters/metrics/prometheus-metrics.js';
import type { LiveConfiguration } from '../application/configuration/live-configuration.js';
import type { ProxyHealth } from '../application/health/proxy-health.js';
import type { AwaitNode, NodePatience } from '../application/node/await-node.js';
import type { CheckNode } from '../application/node/check-node.js';
import type { ServiceHealthChecks } from '../application/health/service-health-checks.js';
import type { Readiness } from '../application/health/readiness.js';
import type { NodeContexts } from '../application/node/node-contexts.js';
import type { Backend } from '../application/ports/backend.js';
import type { Clock } from '../application/ports/clock.js';
import type { ClusterSource } from '../application/ports/cluster-source.js';
import type { Conntrack } from '../application/ports/conntrack.js';
import type { EventRecorder } from '../application/ports/event-recorder.js';
import type { LocalAddresses } from '../application/ports/local-addresses.js';
import type { Logger } from '../application/ports/logger.js';
import type { SyncObserver } from '../application/ports/sync-observer.js';
import type { ServiceStatuses } from '../application/status/service-statuses.js';
import type { SyncHistory } from '../application/status/sync-history.js';
import type { SyncLoop } from '../application/sync/sync-loop.js';
import type { ClusterEvents } from '../application/use-cases/cluster-events.js';
import type { ObjectReports } from '../application/use-cases/object-reports.js';
import type { ReconcileConntrack } from '../application/use-cases/reconcile-conntrack.js';
import type { IpFamily } from '../domain/net/ip-family.js';
import type { ClusterState } from '../domain/state/cluster-state.js';
import type { CommandLine } from './configuration/command-line.js';
import type { OpenMode } from './modes/open-mode.js';

export interface ApiTimings {
  readonly requests: Partial<ApiTimeouts>;
  readonly watches: Partial<ReflectorTimings>;
}

/** The names under which the container holds the parts of the proxy. An embedder rebinds any of them. */
export const COMMAND_LINE: ServiceIdentifier<CommandLine> = Symbol.for('CommandLine');
/** What is in force of COMMAND_LINE after edits of the configuration file. */
export const LIVE_CONFIGURATION: ServiceIdentifier<LiveConfiguration<CommandLine>> =
  Symbol.for('LiveConfiguration');
/** The families that this node serves, the primary one first. */
export const FAMILIES: ServiceIdentifier<readonly IpFamily[]> = Symbol.for('Families');
export const LOGGER: ServiceIdentifier<Logger> = Symbol.for('Logger');
export const CLOCK: ServiceIdentifier<Clock> = Symbol.for('Clock');
export const LOCAL_ADDRESSES: ServiceIdentifier<LocalAddresses> = Symbol.for('LocalAddresses');
export const CLUSTER_STATE: ServiceIdentifier<ClusterState> = Symbol.for('ClusterState');
export const CHECK_NODE: ServiceIdentifier<CheckNode> = Symbol.for('CheckNode');
export const AWAIT_NODE: ServiceIdentifier<AwaitNode> = Symbol.for('AwaitNode');
/** How long to wait for what the own Node must say. */
export const NODE_PATIENCE: ServiceIdentifier<NodePatience> = Symbol.for('NodePatience');
export const NODE_CONTEXTS: ServiceIdentifier<NodeContexts> = Symbol.for('NodeContexts');
export const SERVICE_STATUSES: ServiceIdentifier<ServiceStatuses> = Symbol.for('ServiceStatuses');
export const SYNC_HISTORY: ServiceIdentifier<SyncHistory> = Symbol.for('SyncHistory');
export const OBJECT_REPORTS: ServiceIdentifier<ObjectReports> = Symbol.for('ObjectReports');
export const SYNC_OBSERVER: ServiceIdentifier<SyncObserver> = Symbol.for('SyncObserver');
export const SYNC_LOOPS: ServiceIdentifier<readonly SyncLoop[]> = Symbol.for('SyncLoops');
export const CLUSTER_EVENTS: ServiceIdentifier<ClusterEvents> = Symbol.for('ClusterEvents');
/** The one way to the API server, made when it is first asked for. */
export const API_CLIENT: ServiceIdentifier<() => Promise<ApiClient>> = Symbol.for('ApiClient');
/** What shall differ from the usual timings of the API server's clients. */
export const API_TIMINGS: ServiceIdentifier<ApiTimings> = Symbol.for('ApiTimings');
export const CLUSTER_SOURCE: ServiceIdentifier<ClusterSource> = Symbol.for('ClusterSource');
/** One backend for each family, in the order of FAMILIES. */
export const BACKENDS: ServiceIdentifier<readonly Backend[]> = Symbol.for('Backends');
export const CONNTRACK: ServiceIdentifier<Conntrack> = Symbol.for('Conntrack');
/** One for each family, in the order of FAMILIES. */
export const CONNTRACK_RECONCILERS: ServiceIdentifier<readonly ReconcileConntrack[]> =
  Symbol.for('ConntrackReconcilers');
/** The mode in force. */
export const MODE: ServiceIdentifier<OpenMode> = Symbol.for('Mode');
export const PROXY_HEALTH: ServiceIdentifier<ProxyHealth> = Symbol.for('ProxyHealth');
export const READINESS: ServiceIdentifier<Readiness> = Symbol.for('Readiness');
/** One for each family that is served; none where nobody shall be told. */
export const SERVICE_HEALTH_CHECKS: ServiceIdentifier<readonly ServiceHealthChecks[]> =
  Symbol.for('ServiceHealthChecks');
/** Stopping gives what waits a moment to be delivered. */
export const EVENT_RECORDER: ServiceIdentifier<EventRecorder & { stop(): Promise<void> }> =
  Symbol.for('EventRecorder');
export const METRICS: ServiceIdentifier<PrometheusMetrics> = Symbol.for('Metrics');
export const HEALTH_SERVER: ServiceIdentifier<HealthServer | undefined> = Symbol.for('HealthServer');
export const METRICS_SERVER: ServiceIdentifier<MetricsServer | undefined> = Symbol.for('MetricsServer');
