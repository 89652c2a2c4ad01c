import {
  DURATION_BUCKETS,
  metric,
  PROGRAMMING_BUCKETS,
  type MetricOptions,
  type MetricSpec,
  type MetricTable,
} from './metric-spec.js';

const FAMILY = ['ip_family'] as const;
const CODE = ['code'] as const;
const IPTABLES = ['iptables'] as const;
const NFTABLES = ['nftables'] as const;
const RESTORING = ['iptables', 'ipvs'] as const;
const WITH_PARTIAL_SYNCS = ['iptables', 'nftables'] as const;

const alpha = <Type extends MetricSpec['type']>(
  type: Type,
  name: string,
  help: string,
  options: MetricOptions = {},
) => metric(type, `kubeproxy_${name}`, help, { stability: 'ALPHA', ...options });

const duration = (name: string, help: string, options: MetricOptions = {}) =>
  alpha('histogram', name, help, { labels: FAMILY, buckets: DURATION_BUCKETS, ...options });

/** kube-proxy's own metrics (docs/spec/server.md §10). Names, types, labels and buckets are interfaces; the help texts are ours. */
export const PROXY_METRICS = {
  sync: duration('sync_proxy_rules_duration_seconds', 'Duration of syncs, including failed ones'),
  fullSync: duration('sync_full_proxy_rules_duration_seconds', 'Duration of full syncs', {
    modes: WITH_PARTIAL_SYNCS,
  }),
  partialSync: duration('sync_partial_proxy_rules_duration_seconds', 'Duration of partial syncs', {
    modes: WITH_PARTIAL_SYNCS,
  }),
  lastSync: alpha(
    'gauge',
    'sync_proxy_rules_last_timestamp_seconds',
    'When the last successful sync ended, in seconds since the epoch',
    { labels: FAMILY },
  ),
  lastQueued: alpha(
    'gauge',
    'sync_proxy_rules_last_queued_timestamp_seconds',
    'When a sync was last requested, in seconds since the epoch',
    { labels: FAMILY },
  ),
  programming: alpha(
    'histogram',
    'network_programming_duration_seconds',
    'Time from the change of a pod or Service until its rules are programmed',
    { labels: FAMILY, buckets: PROGRAMMING_BUCKETS },
  ),
  endpointsPending: alpha(
    'gauge',
    'sync_proxy_rules_endpoint_changes_pending',
    'Accepted EndpointSlice changes that no sync has processed yet',
  ),
  endpoints: alpha('counter', 'sync_proxy_rules_endpoint_changes_total', 'EndpointSlice events seen'),
  servicesPending: alpha(
    'gauge',
    'sync_proxy_rules_service_changes_pending',
    'Services with a change that no sync has processed yet',
  ),
  services: alpha('counter', 'sync_proxy_rules_service_changes_total', 'Service events seen'),
  noLocalEndpoints: alpha(
    'gauge',
    'sync_proxy_rules_no_local_endpoints_total',
    'Service ports with a Local traffic policy and usable endpoints, but none on this node',
    { labels: ['traffic_policy', 'ip_family'] },
  ),
  healthz: alpha('counter', 'proxy_healthz_total', 'Responses of /healthz by status code', { labels: CODE }),
  livez: alpha('counter', 'proxy_livez_total', 'Responses of /livez by status code', { labels: CODE }),
  restoreFailures: alpha(
    'counter',
    'sync_proxy_rules_iptables_restore_failures_total',
    'Restores that iptables rejected or that could not run',
    { labels: FAMILY, modes: RESTORING },
  ),
  partialRestoreFailures: alpha(
    'counter',
    'sync_proxy_rules_iptables_partial_restore_failures_total',
    'Partial syncs that failed, or of which a restore failed',
    { labels: FAMILY, modes: IPTABLES },
  ),
  rulesOwned: alpha('gauge', 'sync_proxy_rules_iptables_total', 'Rules that belong to the proxy', {
    labels: ['table', 'ip_family'],
    modes: IPTABLES,
  }),
  rulesWritten: alpha('gauge', 'sync_proxy_rules_iptables_last', 'Rules that the last sync wrote', {
    labels: ['table', 'ip_family'],
    modes: IPTABLES,
  }),
  invalidDropped: alpha(
    'counter',
    'iptables_ct_state_invalid_dropped_packets_total',
    'Packets dropped because connection tracking considers them invalid',
    { modes: IPTABLES, needsCounters: true },
  ),
  localhostNodePorts: alpha(
    'counter',
    'iptables_localhost_nodeports_accepted_packets_total',
    'Packets to node ports on loopback addresses',
    { modes: IPTABLES, needsCounters: true },
  ),
  nftablesSyncFailures: alpha(
    'counter',
    'sync_proxy_rules_nftables_sync_failures_total',
    'Syncs that nftables rejected as a whole',
    { labels: FAMILY, modes: NFTABLES },
  ),
  nftablesCleanupFailures: alpha(
    'counter',
    'sync_proxy_rules_nftables_cleanup_failures_total',
    'Failures to delete stale nftables chains',
    { labels: FAMILY, modes: NFTABLES },
  ),
  conntrack: duration(
    'conntrack_reconciler_sync_duration_seconds',
    'Duration of searches for stale tracked connections',
  ),
  conntrackDeleted: alpha(
    'counter',
    'conntrack_reconciler_deleted_entries_total',
    'Stale tracked connections deleted',
    { labels: FAMILY },
  ),
} as const satisfies MetricTable;
