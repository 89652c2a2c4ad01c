import type { ExplainAddress } from '../application/explain/explain-address.js';
import type { HealthServer } from '../adapters/health/health-server.js';
import type { ApiClient } from '../adapters/kubernetes/client/api-client.js';
import type { ApiTimeouts } from '../adapters/kubernetes/client/api-timeouts.js';
import type { ReflectorTimings } from '../adapters/kubernetes/watch/reflector-timings.js';
import type { ScrapeServer } from '../adapters/metrics/scrape-server.js';
import type { MetricsServer } from '../adapters/metrics/metrics-server.js';
import type { PacketCounters, PrometheusMetrics, Scrape } from '../adapters/metrics/prometheus-metrics.js';
import type { Routes } from '../adapters/http/router.js';
import type { LiveConfiguration } from '../application/configuration/live-configuration.js';
import type { ProxyHealth } from '../application/health/proxy-health.js';
import type { Readiness } from '../application/health/readiness.js';
import type { AwaitNode, NodeTimeouts } from '../application/node/await-node.js';
import type { CheckNode } from '../application/node/check-node.js';
import type { NodeContexts } from '../application/node/node-contexts.js';
import type { Clock } from '../application/ports/clock.js';
import type { ClusterSource } from '../application/ports/cluster-source.js';
import type { Conntrack } from '../application/ports/node/conntrack.js';
import type { FlowEvents } from '../application/ports/node/flow-events.js';
import type { EventRecorder } from '../application/ports/event-recorder.js';
import type { HealthCheckListener } from '../application/ports/health-check-listener.js';
import type { LocalAddresses } from '../application/ports/node/local-addresses.js';
import type { Logger } from '../application/ports/logger.js';
import type { ServiceLookup } from '../application/ports/service-lookup.js';
import type { SyncObserver } from '../application/ports/sync-observer.js';
import type { ChangeHistory } from '../application/status/change-history.js';
import type { ServiceStatuses } from '../application/status/service-statuses.js';
import type { SyncHistory } from '../application/status/sync-history.js';
import type { TrafficMetrics } from '../application/traffic/traffic-metrics.js';
import type { TrafficWatchers } from '../application/traffic/traffic-watchers.js';
import type { ClusterEvents } from '../application/use-cases/cluster-events.js';
import type { ObjectReports } from '../application/use-cases/object-reports.js';
import type { IpFamily } from '../domain/net/ip-family.js';
import type { ClusterState } from '../domain/state/cluster-state.js';
import type { CommandLine } from './configuration/command-line.js';
import type { ServedFamily } from './family/served-family.js';
import { Identifier } from './injection/identifier.js';
import type { Part } from './life-cycle/part.js';
import type { OpenMode } from './modes/open-mode.js';

/** What differs from the usual timings of the API server's clients. */
export interface ApiTimings {
  readonly requests: Partial<ApiTimeouts>;
  readonly watches: Partial<ReflectorTimings>;
}

/** Records events until it is stopped, which gives those that wait a moment to be delivered. */
export type RunningEventRecorder = EventRecorder & { stop?(): Promise<void> };

/* The parts of a proxy that exist once. Those of each IP family are in family/identifiers.ts. */

/** The command line as it was at the start. */
export const COMMAND_LINE = new Identifier<CommandLine>('command line');
/** The command line in force: edits of the configuration file change it. */
export const LIVE_CONFIGURATION = new Identifier<LiveConfiguration<CommandLine>>('live configuration');
/** The families that this node can serve, the primary one first. */
export const FAMILIES = new Identifier<readonly IpFamily[]>('families');
export const LOGGER = new Identifier<Logger>('logger');
export const CLOCK = new Identifier<Clock>('clock');
export const LOCAL_ADDRESSES = new Identifier<LocalAddresses>('local addresses');

export const CLUSTER_STATE = new Identifier<ClusterState>('cluster state');
export const CLUSTER_SOURCE = new Identifier<ClusterSource>('cluster source');
export const CLUSTER_EVENTS = new Identifier<ClusterEvents>('cluster events');
export const OBJECT_REPORTS = new Identifier<ObjectReports>('object reports');
/** Undefined where the source delivers every Service. */
export const SERVICE_LOOKUP = new Identifier<ServiceLookup | undefined>('service lookup');
/** The one client of the API server, made when it is first called for. */
export const API_CLIENT = new Identifier<() => Promise<ApiClient>>('API client');
export const API_TIMINGS = new Identifier<ApiTimings>('API timings');
export const EVENT_RECORDER = new Identifier<RunningEventRecorder>('event recorder');

export const CHECK_NODE = new Identifier<CheckNode>('check of the Node');
export const AWAIT_NODE = new Identifier<AwaitNode>('wait for the Node');
/** How long to wait for this node's Node object. */
export const NODE_TIMEOUTS = new Identifier<NodeTimeouts>('node timeouts');
export const NODE_CONTEXTS = new Identifier<NodeContexts>('node contexts');

/** The mode in force. */
export const MODE = new Identifier<OpenMode>('mode');
/** Sets what the proxy needs of the machine besides rules. Idempotent. */
export const MACHINE_SETTINGS = new Identifier<() => Promise<void>>('machine settings');
/** Resolves when rules may be written: the Node is known and checked, the machine is set up. Rejects when that failed. */
export const READY = new Identifier<{ readonly promise: Promise<void> }>('ready');
/** What runs for each family, in the order of FAMILIES. */
export const SERVED_FAMILIES = new Identifier<readonly ServedFamily[]>('served families');
/** Undefined: tracked connections are left alone. */
export const CONNTRACK = new Identifier<Conntrack | undefined>('conntrack');
/** Undefined: health-check node ports stay closed. */
export const HEALTH_CHECK_LISTENER = new Identifier<HealthCheckListener | undefined>('health check listener');

export const SERVICE_STATUSES = new Identifier<ServiceStatuses>('service statuses');
export const SYNC_HISTORY = new Identifier<SyncHistory>('sync history');
export const CHANGE_HISTORY = new Identifier<ChangeHistory>('change history');
export const SYNC_OBSERVER = new Identifier<SyncObserver>('sync observer');
export const PROXY_HEALTH = new Identifier<ProxyHealth>('proxy health');
export const READINESS = new Identifier<Readiness>('readiness');

/** What happens to tracked connections. */
export const FLOW_EVENTS = new Identifier<FlowEvents>('flow events');
export const TRAFFIC_WATCHERS = new Identifier<TrafficWatchers>('traffic watchers');
/** Undefined: the configuration wants none. */
export const TRAFFIC_METRICS = new Identifier<TrafficMetrics | undefined>('traffic metrics');
export const TRAFFIC_ROUTES = new Identifier<Routes>('traffic routes');

export const METRICS = new Identifier<PrometheusMetrics>('metrics');
/** Undefined where this mode or this kernel does not count packets. */
export const PACKET_COUNTERS = new Identifier<PacketCounters | undefined>('packet counters');
export const METRICS_SCRAPE = new Identifier<Scrape>('metrics scrape');
/** What `trace` asks a running proxy. */
export const EXPLAIN_ADDRESS = new Identifier<ExplainAddress>('explanations of addresses');
export const TRACE_ROUTES = new Identifier<Routes>('trace routes');
export const REPORT_ROUTES = new Identifier<Routes>('report routes');
export const DIFFERENCE_ROUTES = new Identifier<Routes>('difference routes');
export const METRICS_ROUTES = new Identifier<Routes>('metrics routes');
/** Undefined: the configuration wants none. */
export const METRICS_SERVER = new Identifier<MetricsServer | undefined>('metrics server');
/** Undefined: the configuration wants none. */
export const SCRAPE_SERVER = new Identifier<ScrapeServer | undefined>('scrape server');
export const HEALTH_SERVER = new Identifier<HealthServer | undefined>('healthz server');

/** Everything that runs, in the order in which it starts. */
export const PROXY_PARTS = new Identifier<readonly Part[]>('proxy parts');
