import { DURATION_BUCKETS, metricsWith, PROGRAMMING_BUCKETS, type MetricTable } from './metric-spec.js';

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
