import { DURATION_BUCKETS, PROGRAMMING_BUCKETS, type MetricSpec, type MetricTable } from './metric-spec.js';

const FAMILY = ['ip_family'] as const;
const CODE = ['code'] as const;
const IPTABLES = ['iptables'] as const;
const NFTABLES = ['nftables'] as const;
const RESTORING = ['iptables', 'ipvs'] as const;
const WITH_PARTIAL_SYNCS = ['iptables', 'nftables'] as const;

type Rest = Omit<MetricSpec, 'name' | 'type' | 'help' | 'stability'>;

function alpha<Type extends MetricSpec['type']>(type: Type, name: string, help: string, rest: Rest = {}) {
  return { type, name: `kubeproxy_${name}`, help, stability: 'ALPHA', ...rest } as const;
}

const duration = (name: string, help: string, rest: Rest = {}) =>
  alpha('histogram', name, help, { labels: FAMILY, buckets: DURATION_BUCKETS, ...rest });

/** kube-proxy's own metrics (docs/spec/server.md §10). Names, types, labels and buckets are interfaces; the help texts are ours. */
export const PROXY_METRICS = {
  sync: duration(
    'sync_proxy_rules_duration_seconds',
    'Time that syncs of the rules took, failed ones included',
  ),
  fullSync: duration('sync_full_proxy_rules_duration_seconds', 'Time that full syncs took', {
    modes: WITH_PARTIAL_SYNCS,
  }),
  partialSync: duration('sync_partial_proxy_rules_duration_seconds', 'Time that syncs of changes took', {
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
    'When a sync was last asked for, in seconds since the epoch',
    { labels: FAMILY },
  ),
  programming: alpha(
    'histogram',
    'network_programming_duration_seconds',
    'Time from the change of a pod or Service to the rules that follow it',
    { labels: FAMILY, buckets: PROGRAMMING_BUCKETS },
  ),
  endpointsPending: alpha(
    'gauge',
    'sync_proxy_rules_endpoint_changes_pending',
    'Accepted EndpointSlice changes that no sync has taken up yet',
  ),
  endpoints: alpha('counter', 'sync_proxy_rules_endpoint_changes_total', 'EndpointSlice events seen'),
  servicesPending: alpha(
    'gauge',
    'sync_proxy_rules_service_changes_pending',
    'Services with a change that no sync has taken up yet',
  ),
  services: alpha('counter', 'sync_proxy_rules_service_changes_total', 'Service events seen'),
  noLocalEndpoints: alpha(
    'gauge',
    'sync_proxy_rules_no_local_endpoints_total',
    'Service ports with a Local traffic policy and usable endpoints, but none of them on this node',
    { labels: ['traffic_policy', 'ip_family'] },
  ),
  healthz: alpha('counter', 'proxy_healthz_total', 'Answers of /healthz by status', { labels: CODE }),
  livez: alpha('counter', 'proxy_livez_total', 'Answers of /livez by status', { labels: CODE }),
  restoreFailures: alpha(
    'counter',
    'sync_proxy_rules_iptables_restore_failures_total',
    'Restores that iptables refused or that could not be made',
    { labels: FAMILY, modes: RESTORING },
  ),
  partialRestoreFailures: alpha(
    'counter',
    'sync_proxy_rules_iptables_partial_restore_failures_total',
    'Failed syncs of changes',
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
    'Packets that were dropped because connection tracking took them for invalid',
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
    'Syncs that nftables refused as a whole',
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
    'Time that searches for stale tracked connections took',
  ),
  conntrackDeleted: alpha(
    'counter',
    'conntrack_reconciler_deleted_entries_total',
    'Stale tracked connections deleted',
    { labels: FAMILY },
  ),
} as const satisfies MetricTable;
