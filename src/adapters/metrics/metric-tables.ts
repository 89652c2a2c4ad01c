/** The metrics of the proxy: kube-proxy's, and those that kube-proxy does not have. */

import { DURATION_BUCKETS, metricsWith, PROGRAMMING_BUCKETS, type MetricTable } from './metric-set.js';

const FAMILY = { stability: 'ALPHA', labels: ['ip_family'] } as const;
const IPTABLES = ['iptables'] as const;
const PREFIX = 'kubeproxy_';
const alpha = metricsWith({ stability: 'ALPHA' }, PREFIX);
const byCode = metricsWith({ stability: 'ALPHA', labels: ['code'] }, PREFIX);
const byFamily = metricsWith(FAMILY, PREFIX);
const duration = metricsWith({ ...FAMILY, buckets: DURATION_BUCKETS }, PREFIX);
const ofNftables = metricsWith({ ...FAMILY, modes: ['nftables'] }, PREFIX);
const ofLocalhost = metricsWith(
  { ...FAMILY, modes: ['nftables'], gate: 'KubeProxyNFTablesLocalhostNodePorts' },
  `${PREFIX}nftables_localhost_nodeport_`,
);
const byTable = metricsWith({ stability: 'ALPHA', labels: ['table', 'ip_family'], modes: IPTABLES }, PREFIX);
const ofKernel = metricsWith({ stability: 'ALPHA', modes: IPTABLES, needsCounters: true }, PREFIX);
const WITH_PARTIAL_SYNCS = ['iptables', 'nftables'] as const;

/**
 * kube-proxy's own metrics (docs/internals/spec/server.md §10). Names, types, labels and buckets are interfaces; most help texts are ours.
 */
export const PROXY_METRICS = {
  sync: duration.histogram('sync_proxy_rules_duration_seconds', 'Duration of syncs, including failed ones'),
  fullSync: duration.histogram('sync_full_proxy_rules_duration_seconds', 'Duration of full syncs', {
    modes: WITH_PARTIAL_SYNCS,
  }),
  partialSync: duration.histogram('sync_partial_proxy_rules_duration_seconds', 'Duration of partial syncs', {
    modes: WITH_PARTIAL_SYNCS,
  }),
  lastSync: byFamily.gauge(
    'sync_proxy_rules_last_timestamp_seconds',
    'When the last successful sync ended, in seconds since the epoch',
  ),
  lastQueued: byFamily.gauge(
    'sync_proxy_rules_last_queued_timestamp_seconds',
    'When a sync was last requested, in seconds since the epoch',
  ),
  programming: byFamily.histogram(
    'network_programming_duration_seconds',
    'Time from the change of a pod or Service until its rules are programmed',
    { buckets: PROGRAMMING_BUCKETS },
  ),
  endpointsPending: alpha.gauge(
    'sync_proxy_rules_endpoint_changes_pending',
    'Accepted EndpointSlice changes that no sync has processed yet',
  ),
  endpoints: alpha.counter('sync_proxy_rules_endpoint_changes_total', 'EndpointSlice events seen'),
  servicesPending: alpha.gauge(
    'sync_proxy_rules_service_changes_pending',
    'Services with a change that no sync has processed yet',
  ),
  services: alpha.counter('sync_proxy_rules_service_changes_total', 'Service events seen'),
  noLocalEndpoints: alpha.gauge(
    'sync_proxy_rules_no_local_endpoints_total',
    'Service ports with a Local traffic policy and usable endpoints, but none on this node',
    { labels: ['traffic_policy', 'ip_family'] },
  ),
  healthz: byCode.counter('proxy_healthz_total', 'Responses of /healthz by status code'),
  livez: byCode.counter('proxy_livez_total', 'Responses of /livez by status code'),
  restoreFailures: byFamily.counter(
    'sync_proxy_rules_iptables_restore_failures_total',
    'Restores that iptables rejected or that could not run',
    { modes: ['iptables', 'ipvs'] },
  ),
  partialRestoreFailures: byFamily.counter(
    'sync_proxy_rules_iptables_partial_restore_failures_total',
    'Partial syncs that failed, or of which a restore failed',
    { modes: IPTABLES },
  ),
  rulesOwned: byTable.gauge('sync_proxy_rules_iptables_total', 'Rules that belong to the proxy'),
  rulesWritten: byTable.gauge('sync_proxy_rules_iptables_last', 'Rules that the last sync wrote'),
  invalidDropped: ofKernel.counter(
    'iptables_ct_state_invalid_dropped_packets_total',
    'Packets dropped because connection tracking considers them invalid',
  ),
  localhostNodePorts: ofKernel.counter(
    'iptables_localhost_nodeports_accepted_packets_total',
    'Packets to node ports on loopback addresses',
  ),
  nftablesSyncFailures: ofNftables.counter(
    'sync_proxy_rules_nftables_sync_failures_total',
    'Syncs that nftables rejected as a whole',
  ),
  nftablesCleanupFailures: ofNftables.counter(
    'sync_proxy_rules_nftables_cleanup_failures_total',
    'Failures to delete stale nftables chains',
  ),
  localhostListeners: ofLocalhost.gauge(
    'listeners',
    'Number of active localhost NodePort userspace proxy listeners.',
  ),
  localhostListenerFailures: ofLocalhost.counter(
    'listener_creation_failures_total',
    'Number of localhost NodePort userspace proxy listener creation failures.',
  ),
  localhostNodePortsRejected: ofLocalhost.counter(
    'rejected_packets_total',
    'Number of packets rejected on localhost NodePorts. UDP and SCTP are always rejected; ' +
      'TCP is rejected when the localhost NodePort proxy is not running',
    { labels: ['ip_family', 'protocol'] },
  ),
  conntrack: duration.histogram(
    'conntrack_reconciler_sync_duration_seconds',
    'Duration of searches for stale tracked connections',
  ),
  conntrackDeleted: byFamily.counter(
    'conntrack_reconciler_deleted_entries_total',
    'Stale tracked connections deleted',
  ),
} as const satisfies MetricTable;

const OWN_PREFIX = 'kube_proxy_ts_';
const own = metricsWith({}, OWN_PREFIX);
const ownByFamily = metricsWith({ labels: ['ip_family'] }, OWN_PREFIX);
const ofSlots = metricsWith({ labels: ['ip_family'], modes: ['nftables'] }, `${OWN_PREFIX}load_balancing_`);
const byKind = metricsWith({ labels: ['kind'] }, OWN_PREFIX);
const byEndpoint = metricsWith(
  { labels: ['namespace', 'service', 'port', 'endpoint'], modes: ['nftables'] },
  `${OWN_PREFIX}least_connections_`,
);
const byServicePort = metricsWith({ labels: ['namespace', 'service', 'port'] }, `${OWN_PREFIX}service_`);

/** Metrics that kube-proxy does not have. */
export const OWN_METRICS = {
  buildInfo: own.gauge(
    'build_info',
    'Always 1; the labels are the version of kube-proxy-ts, the Kubernetes release that it follows, the proxy mode and the version of Node.js',
    { labels: ['version', 'kubernetes_version', 'mode', 'node_version'] },
  ),
  nodeState: own.gauge(
    'node_state',
    'State of this node: 1 for the present state, 0 for the others; ok, degraded (the proxy or the kernel has a problem) or not_serving (rules were never programmed)',
    { labels: ['state'] },
  ),
  services: own.gauge(
    'services',
    'Services by their verdict on this node: ok, warning (works with limits) or error (clients are rejected or lose connections)',
    { labels: ['state'] },
  ),
  servicePorts: own.gauge(
    'service_ports',
    'Service ports by the result of the last attempt to program them: programmed, degraded (with limits) or failed',
    { labels: ['ip_family', 'state'] },
  ),
  pendingServices: ownByFamily.gauge('pending_services', 'Services that wait for the next sync'),
  slots: ofSlots.gauge(
    'slots',
    'Slots in use by tables for load balancing; each is an element of a map in the kernel',
  ),
  slotMemory: ofSlots.gauge('slots_memory_bytes', 'Estimated kernel memory that the slots use'),
  slotsLimit: ofSlots.gauge('slots_limit', 'Maximum number of slots'),
  slotsDenied: ofSlots.gauge(
    'denied_services',
    'Services that have no table for load balancing because the limit is reached; their endpoints are chosen at random',
  ),
  driftDetections: ownByFamily.counter(
    'drift_detections_total',
    'Verifications that found rules changed by another program',
  ),
  driftRepairSteps: ownByFamily.counter(
    'drift_repair_steps_total',
    'Steps written to repair rules changed by another program',
  ),
  syncSteps: ownByFamily.histogram(
    'sync_steps',
    'Steps that a successful sync wrote to the kernel, such as rules, chains and set elements',
    { buckets: [0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000] },
  ),
  lockWait: ownByFamily.histogram(
    'iptables_lock_wait_seconds',
    'Time that restores waited for the iptables lock',
    { buckets: DURATION_BUCKETS, modes: ['iptables', 'ipvs'] },
  ),
  watchIdle: byKind.gauge(
    'watch_idle_seconds',
    'Time since the API server last sent data about a kind; it sends a bookmark about once a minute',
  ),
  watchConnected: byKind.gauge('watch_connected', 'Whether the watch of a kind is open: 1 or 0'),
  watchRewinds: byKind.counter(
    'watch_rewinds_total',
    'Times that the API server returned to an older state, as after a restore from a backup',
  ),
  shortWatches: byKind.counter(
    'short_watches_total',
    'Watches that the API server ended within a second without an event; they restart with a backoff',
  ),
  staleConnections: own.counter(
    'stale_connections_deleted_total',
    'Tracked TCP and SCTP connections without an answer that were deleted because their rules changed: endpoint_gone, no_endpoint_left, frontend_gone, never_translated or policy_changed',
    { labels: ['ip_family', 'protocol', 'reason'] },
  ),
  connectionsReset: ownByFamily.counter(
    'connections_reset_total',
    'Established connections to a removed, unresponsive endpoint that were deleted so that their clients get a reset',
  ),
  connectionsUnmonitored: ownByFamily.counter(
    'connections_unmonitored_total',
    'Established connections to removed endpoints that are not monitored because the limit is reached',
  ),
  synced: ownByFamily.gauge(
    'synced',
    'Whether all rules have been programmed at least once since the start: 1 or 0',
  ),
  ignoredObjects: byKind.gauge(
    'ignored_objects',
    'Objects that are ignored because they are invalid or unreadable; their last valid version stays in effect',
  ),
  trafficOpen: byServicePort.gauge('connections_open', 'Tracked connections that are open'),
  trafficUnanswered: byServicePort.gauge(
    'connections_unanswered',
    'Tracked connections that have waited for their first answer for more than a second',
  ),
  trafficConnections: byServicePort.counter('connections_total', 'Tracked connections that were opened'),
  trafficFailed: byServicePort.counter(
    'connections_failed_total',
    'Tracked connections that ended without an answer, such as rejected ones',
  ),
  trafficBytes: byServicePort.counter(
    'bytes_total',
    'Bytes in both directions; only if the kernel counts bytes of connections',
  ),
  terminatingConnections: ownByFamily.gauge(
    'terminating_endpoint_connections',
    'Open connections of clients through this node to endpoints that terminate',
  ),
  openByEndpoint: byEndpoint.gauge(
    'open',
    'Open connections to an endpoint of a Service with load balancing by least connections; of 1,000 endpoints at most',
  ),
  shareByEndpoint: byEndpoint.gauge(
    'share_ratio',
    'Part of new connections that an endpoint of a Service with load balancing by least connections gets, from 0 to 1',
  ),
  ejectedEndpoints: ownByFamily.gauge(
    'ejected_endpoints',
    'Endpoints of service ports that get no new connections because they did not answer the last ones',
  ),
  endpointEjections: own.counter(
    'endpoint_ejections_total',
    'Ejections of endpoints: unresponsive, or still_unresponsive after a retry',
    { labels: ['reason'] },
  ),
  endpointReturns: own.counter(
    'endpoint_returns_total',
    'Returns of ejected endpoints: retry after the ejection time, answered, or most_unresponsive if too many endpoints of the service port do not answer',
    { labels: ['reason'] },
  ),
  forwardingChecked: ownByFamily.gauge(
    'forwarding_check_successful',
    'Whether the last check of forwarding succeeded: 1 or 0',
  ),
  forwardingCheckFailures: ownByFamily.counter(
    'forwarding_check_failures_total',
    'Checks of forwarding that failed',
  ),
  configurationRejected: own.gauge(
    'configuration_rejected',
    'Whether the last edit of the configuration file was rejected: 1 or 0; the log has the reason',
  ),
} satisfies MetricTable;
