import { DURATION_BUCKETS, metricsWith, type MetricTable } from './metric-spec.js';

const PREFIX = 'kubeproxy_';
const plain = metricsWith({}, PREFIX);
const byFamily = metricsWith({ labels: ['ip_family'] }, PREFIX);
const ofSlots = metricsWith({ labels: ['ip_family'], modes: ['nftables'] }, PREFIX);
const byKind = metricsWith({ labels: ['kind'] }, PREFIX);
const byServicePort = metricsWith({ labels: ['namespace', 'service', 'port'] }, PREFIX);

/** Metrics that kube-proxy does not have. */
export const OWN_METRICS = {
  servicePorts: plain.gauge(
    'service_ports',
    'Service ports by the result of the last attempt to program them: programmed or failed',
    { labels: ['ip_family', 'state'] },
  ),
  servicesWaiting: byFamily.gauge('services_waiting', 'Services that wait for the next sync'),
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
  driftFound: byFamily.counter(
    'drift_found_total',
    'Verifications that found rules changed by another program',
  ),
  driftRepaired: byFamily.counter(
    'drift_repaired_steps_total',
    'Steps written to repair rules changed by another program',
  ),
  syncSteps: byFamily.histogram('sync_steps', 'Steps that a successful sync wrote to the kernel', {
    buckets: [0, 1, 3, 10, 30, 100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000],
  }),
  lockWait: byFamily.histogram('lock_wait_seconds', 'Time that restores waited for the iptables lock', {
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
  rescued: plain.counter(
    'connections_rescued_total',
    'Connections without an answer that no longer wait for what does not serve: endpoint_gone, no_endpoint_left, …',
    { labels: ['ip_family', 'protocol', 'reason'] },
  ),
  reset: plain.counter(
    'connections_reset_total',
    'Established connections whose endpoint was gone and silent, and whose clients are answered with a reset',
    { labels: ['ip_family', 'reason'] },
  ),
  unwatched: byFamily.counter(
    'connections_unwatched_total',
    'Connections of endpoints that were gone, too many to be watched for silence',
  ),
  synced: byFamily.gauge(
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
  endpointsAside: byFamily.gauge(
    'endpoints_aside',
    'Endpoints of service ports that step aside, because the last connections to them got no answer',
  ),
  endpointEjections: plain.counter(
    'endpoint_ejections_total',
    'Times that an endpoint stepped aside: silent, or silent-again when it was tried',
    { labels: ['reason'] },
  ),
  endpointReturns: plain.counter(
    'endpoint_returns_total',
    'Times that an endpoint returned: tried-again after its time, answered, or most-silent, when too many were silent to blame them',
    { labels: ['reason'] },
  ),
  configurationRefused: plain.gauge(
    'configuration_refused',
    '1 while the configuration file has an edit that was rejected; the log says why',
  ),
} satisfies MetricTable;
