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

/** kube-proxy's own metrics (docs/spec/server.md §10). Names, types, labels and buckets are interfaces; most help texts are ours. */
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

const OWN_PREFIX = 'kubeproxy_';
const own = metricsWith({}, OWN_PREFIX);
const ownByFamily = metricsWith({ labels: ['ip_family'] }, OWN_PREFIX);
const ofSlots = metricsWith({ labels: ['ip_family'], modes: ['nftables'] }, OWN_PREFIX);
const byKind = metricsWith({ labels: ['kind'] }, OWN_PREFIX);
const byServicePort = metricsWith({ labels: ['namespace', 'service', 'port'] }, OWN_PREFIX);

/** Metrics that kube-proxy does not have. */
export const OWN_METRICS = {
  servicePorts: own.gauge(
    'service_ports',
    'Service ports by the result of the last attempt to program them: programmed or failed',
    { labels: ['ip_family', 'state'] },
  ),
  servicesWaiting: ownByFamily.gauge('services_waiting', 'Services that wait for the next sync'),
  slots: ofSlots.gauge(
    'load_balancing_slots',
    'Slots of tables for load balancing, each an element in the kernel; those of Services without room are not counted',
  ),
  slotBytes: ofSlots.gauge('load_balancing_slots_bytes', "The kernel's memory that slots take, estimated"),
  slotsLimit: ofSlots.gauge('load_balancing_slots_limit', 'Slots that there may be'),
  slotsDenied: ofSlots.gauge(
    'load_balancing_denied_services',
    'Services that need tables for load balancing and have none, because there is no room: their endpoints are chosen at random',
  ),
  driftFound: ownByFamily.counter(
    'drift_found_total',
    'Verifications that found rules changed by another program',
  ),
  driftRepaired: ownByFamily.counter(
    'drift_repaired_steps_total',
    'Steps written to repair rules changed by another program',
  ),
  syncSteps: ownByFamily.histogram('sync_steps', 'Steps that a successful sync wrote to the kernel', {
    buckets: [0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
  }),
  lockWait: ownByFamily.histogram('lock_wait_seconds', 'Time that restores waited for the iptables lock', {
    buckets: DURATION_BUCKETS,
    modes: ['iptables', 'ipvs'],
  }),
  watchSilence: byKind.gauge(
    'watch_silence_seconds',
    'Time since the API server last sent anything about a kind; a bookmark comes about once a minute',
  ),
  watchConnected: byKind.gauge('watch_connected', 'Whether the watch of a kind is open'),
  watchRewinds: byKind.counter(
    'watch_rewinds_total',
    'Times that the API server went back to an older state, as after a restore from a backup',
  ),
  shortWatches: byKind.counter(
    'watches_ended_at_once_total',
    'Watches that the API server ended within a second, without an event; they are taken up again after a growing wait',
  ),
  rescued: own.counter(
    'connections_rescued_total',
    'Connections without an answer that no longer wait for what does not serve: endpoint_gone, no_endpoint_left, …',
    { labels: ['ip_family', 'protocol', 'reason'] },
  ),
  reset: own.counter(
    'connections_reset_total',
    'Established connections whose endpoint was gone and silent, and whose clients are answered with a reset',
    { labels: ['ip_family', 'reason'] },
  ),
  unwatched: ownByFamily.counter(
    'connections_unwatched_total',
    'Connections of endpoints that were gone, too many to be watched for silence',
  ),
  synced: ownByFamily.gauge(
    'synced',
    'Whether everything has been programmed once since the start; 0 from the first moment',
  ),
  objectsIgnored: byKind.gauge(
    'objects_ignored',
    'Objects that are invalid or unreadable and therefore ignored, while their last valid version stays in force',
  ),
  trafficOpen: byServicePort.gauge(
    'service_connections_open',
    'Tracked connections that have begun and are not closed',
  ),
  trafficUnanswered: byServicePort.gauge(
    'service_connections_unanswered',
    'Tracked connections that have waited for their first answer for more than a second',
  ),
  trafficConnections: byServicePort.counter('service_connections_total', 'Tracked connections that began'),
  trafficFailed: byServicePort.counter(
    'service_connections_failed_total',
    'Tracked connections that ended without an answer, such as refused ones',
  ),
  trafficBytes: byServicePort.counter(
    'service_bytes_total',
    'Bytes in both directions, where the kernel counts them',
  ),
  endpointsAside: ownByFamily.gauge(
    'endpoints_aside',
    'Endpoints of service ports that step aside, because the last connections to them got no answer',
  ),
  endpointEjections: own.counter(
    'endpoint_ejections_total',
    'Times that an endpoint stepped aside: silent, or silent-again when it was tried',
    { labels: ['reason'] },
  ),
  endpointReturns: own.counter(
    'endpoint_returns_total',
    'Times that an endpoint returned: tried-again after its time, answered, or most-silent, when too many were silent to blame them',
    { labels: ['reason'] },
  ),
  configurationRefused: own.gauge(
    'configuration_refused',
    '1 while the configuration file has an edit that was rejected; the log says why',
  ),
} satisfies MetricTable;
