import { DURATION_BUCKETS, metric, type MetricTable } from './metric-spec.js';

const FAMILY = ['ip_family'] as const;
const SERVICE_PORT = ['namespace', 'service', 'port'] as const;
const KIND = ['kind'] as const;

/** Metrics that kube-proxy does not have. */
export const OWN_METRICS = {
  servicePorts: metric(
    'gauge',
    'kubeproxy_service_ports',
    'Service ports by the result of the last attempt to program them: programmed or failed',
    { labels: ['ip_family', 'state'] },
  ),
  servicesWaiting: metric('gauge', 'kubeproxy_services_waiting', 'Services that wait for the next sync', {
    labels: FAMILY,
  }),
  driftFound: metric(
    'counter',
    'kubeproxy_drift_found_total',
    'Verifications that found rules changed by another program',
    { labels: FAMILY },
  ),
  driftRepaired: metric(
    'counter',
    'kubeproxy_drift_repaired_steps_total',
    'Steps written to repair rules changed by another program',
    { labels: FAMILY },
  ),
  syncSteps: metric('histogram', 'kubeproxy_sync_steps', 'Steps that a successful sync wrote to the kernel', {
    labels: FAMILY,
    buckets: [0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
  }),
  lockWait: metric(
    'histogram',
    'kubeproxy_lock_wait_seconds',
    'Time that restores waited for the iptables lock',
    { labels: FAMILY, buckets: DURATION_BUCKETS, modes: ['iptables', 'ipvs'] },
  ),
  watchSilence: metric(
    'gauge',
    'kubeproxy_watch_silence_seconds',
    'Time since the API server last sent anything about a kind; a bookmark comes about once a minute',
    { labels: KIND },
  ),
  watchConnected: metric('gauge', 'kubeproxy_watch_connected', 'Whether the watch of a kind is open', {
    labels: KIND,
  }),
  watchRewinds: metric(
    'counter',
    'kubeproxy_watch_rewinds_total',
    'Times that the API server went back to an older state, as after a restore from a backup',
    { labels: KIND },
  ),
  shortWatches: metric(
    'counter',
    'kubeproxy_watches_ended_at_once_total',
    'Watches that the API server ended within a second, without an event; they are taken up again after a growing wait',
    { labels: KIND },
  ),
  synced: metric(
    'gauge',
    'kubeproxy_synced',
    'Whether everything has been programmed once since the start; 0 from the first moment',
    { labels: FAMILY },
  ),
  objectsIgnored: metric(
    'gauge',
    'kubeproxy_objects_ignored',
    'Objects that are invalid or unreadable and therefore ignored, while their last valid version stays in force',
    { labels: KIND },
  ),
  trafficOpen: metric(
    'gauge',
    'kubeproxy_service_connections_open',
    'Tracked connections that have begun and are not closed',
    { labels: SERVICE_PORT },
  ),
  trafficUnanswered: metric(
    'gauge',
    'kubeproxy_service_connections_unanswered',
    'Tracked connections that have waited for their first answer for more than a second',
    { labels: SERVICE_PORT },
  ),
  trafficConnections: metric(
    'counter',
    'kubeproxy_service_connections_total',
    'Tracked connections that began',
    { labels: SERVICE_PORT },
  ),
  trafficFailed: metric(
    'counter',
    'kubeproxy_service_connections_failed_total',
    'Tracked connections that ended without an answer, such as refused ones',
    { labels: SERVICE_PORT },
  ),
  trafficBytes: metric(
    'counter',
    'kubeproxy_service_bytes_total',
    'Bytes in both directions, where the kernel counts them',
    { labels: SERVICE_PORT },
  ),
  configurationRefused: metric(
    'gauge',
    'kubeproxy_configuration_refused',
    '1 while the configuration file has an edit that was rejected; the log says why',
    { labels: [] },
  ),
} satisfies MetricTable;
