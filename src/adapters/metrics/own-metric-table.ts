import { DURATION_BUCKETS, type MetricTable } from './metric-spec.js';

const FAMILY = ['ip_family'] as const;
const SERVICE_PORT = ['namespace', 'service', 'port'] as const;
const KIND = ['kind'] as const;

/** Metrics that kube-proxy does not have. */
export const OWN_METRICS = {
  servicePorts: {
    type: 'gauge',
    name: 'kubeproxy_service_ports',
    help: 'Service ports by the result of the last attempt to program them: programmed or failed',
    labels: ['ip_family', 'state'],
  },
  servicesWaiting: {
    type: 'gauge',
    name: 'kubeproxy_services_waiting',
    help: 'Services that wait for the next sync',
    labels: FAMILY,
  },
  driftFound: {
    type: 'counter',
    name: 'kubeproxy_drift_found_total',
    help: 'Verifications that found rules changed by another program',
    labels: FAMILY,
  },
  driftRepaired: {
    type: 'counter',
    name: 'kubeproxy_drift_repaired_steps_total',
    help: 'Steps written to repair rules changed by another program',
    labels: FAMILY,
  },
  syncSteps: {
    type: 'histogram',
    name: 'kubeproxy_sync_steps',
    help: 'Steps that a successful sync wrote to the kernel',
    labels: FAMILY,
    buckets: [0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
  },
  lockWait: {
    type: 'histogram',
    name: 'kubeproxy_lock_wait_seconds',
    help: 'Time that restores waited for the iptables lock',
    labels: FAMILY,
    buckets: DURATION_BUCKETS,
    modes: ['iptables', 'ipvs'],
  },
  watchSilence: {
    type: 'gauge',
    name: 'kubeproxy_watch_silence_seconds',
    help: 'Time since the API server last sent anything about a kind; a bookmark comes about once a minute',
    labels: KIND,
  },
  watchConnected: {
    type: 'gauge',
    name: 'kubeproxy_watch_connected',
    help: 'Whether the watch of a kind is open',
    labels: KIND,
  },
  watchRewinds: {
    type: 'counter',
    name: 'kubeproxy_watch_rewinds_total',
    help: 'Times that the API server went back to an older state, as after a restore from a backup',
    labels: KIND,
  },
  shortWatches: {
    type: 'counter',
    name: 'kubeproxy_watches_ended_at_once_total',
    help: 'Watches that the API server ended within a second, without an event; they are taken up again after a growing wait',
    labels: KIND,
  },
  synced: {
    type: 'gauge',
    name: 'kubeproxy_synced',
    help: 'Whether everything has been programmed once since the start; 0 from the first moment',
    labels: FAMILY,
  },
  objectsIgnored: {
    type: 'gauge',
    name: 'kubeproxy_objects_ignored',
    help: 'Objects that are invalid or unreadable and therefore ignored, while their last valid version stays in force',
    labels: KIND,
  },
  trafficOpen: {
    type: 'gauge',
    name: 'kubeproxy_service_connections_open',
    help: 'Tracked connections that have begun and are not closed',
    labels: SERVICE_PORT,
  },
  trafficUnanswered: {
    type: 'gauge',
    name: 'kubeproxy_service_connections_unanswered',
    help: 'Tracked connections that have waited for their first answer for more than a second',
    labels: SERVICE_PORT,
  },
  trafficConnections: {
    type: 'counter',
    name: 'kubeproxy_service_connections_total',
    help: 'Tracked connections that began',
    labels: SERVICE_PORT,
  },
  trafficFailed: {
    type: 'counter',
    name: 'kubeproxy_service_connections_failed_total',
    help: 'Tracked connections that ended without an answer, such as refused ones',
    labels: SERVICE_PORT,
  },
  trafficBytes: {
    type: 'counter',
    name: 'kubeproxy_service_bytes_total',
    help: 'Bytes in both directions, where the kernel counts them',
    labels: SERVICE_PORT,
  },
  configurationRefused: {
    type: 'gauge',
    name: 'kubeproxy_configuration_refused',
    help: '1 while the configuration file has an edit that was rejected; the log says why',
    labels: [],
  },
} as const satisfies MetricTable;
