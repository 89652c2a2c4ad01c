import type { EjectUnresponsiveEndpoints } from '../../application/failover/eject-unresponsive-endpoints.js';
import type { BalancedEndpoint } from '../../application/traffic/balance-by-connections.js';
import type { Clock } from '../../application/ports/clock.js';
import type { SourceStatus } from '../../application/ports/cluster-source.js';
import type {
  OpenConnections,
  TerminatingEndpoints,
} from '../../application/traffic/terminating-endpoints.js';
import { inTime } from '../../application/retries.js';
import { isNodeProblem } from '../../application/status/port-status.js';
import { NODE_STATES, type NodeReport } from '../../application/status/node-state.js';
import type { VerdictCounts } from '../../application/status/service-verdicts.js';
import type { ServiceStatuses } from '../../application/status/service-statuses.js';
import { BYTES_OF_SLOT, SLOT_LIMITS } from '../../domain/balancing/slot-budget.js';
import { EJECTION_REASONS, RETURN_REASONS } from '../../domain/failover/port-failover.js';
import type { ForwardingState } from '../../domain/forwarding/forwarding-check.js';
import type { ForwardingTable } from '../../domain/forwarding/forwarding-table.js';
import type { IpFamily } from '../../domain/net/ip-family.js';
import type { SeriesValues } from '../../domain/traffic/traffic-series.js';
import { VERDICT_STATES } from '../../domain/verdict/verdict.js';
import { labelText, type MetricSet } from './metric-set.js';
import type { OWN_METRICS } from './metric-tables.js';

type Own = MetricSet<typeof OWN_METRICS>;

/** Service ports by state. The counts are maintained elsewhere; only failed ports are examined. */
export function showServicePorts(
  own: Own,
  { family, pending }: { readonly family: IpFamily; readonly pending: { readonly serviceCount: number } },
  statuses: ServiceStatuses,
): void {
  const { programmed, degraded, failed } = statuses.counts(family);
  own.set('servicePorts', { ip_family: family, state: 'programmed' }, programmed);
  // The node is not the cause if the mode does not support a service port.
  const refused = statuses.failures(family).filter((port) => isNodeProblem('failed', port)).length;
  own.set('servicePorts', { ip_family: family, state: 'degraded' }, degraded + failed - refused);
  own.set('servicePorts', { ip_family: family, state: 'failed' }, refused);
  // Prometheus sees the first event as an increase only if the counter exists before it.
  own.count('driftDetections', { ip_family: family }, 0);
  own.set('pendingServices', { ip_family: family }, pending.serviceCount);
}

/** Services by their verdict. */
export function showServices(own: Own, counts: VerdictCounts): void {
  for (const state of VERDICT_STATES) own.set('services', { state }, counts[state]);
}

/** One series for each state, 1 for the present one. */
export function showNodeState(own: Own, present: NodeReport['state']): void {
  for (const state of NODE_STATES)
    own.set('nodeState', { state: labelText(state) }, state === present ? 1 : 0);
}

/** The tables of slots, in nftables mode. */
export function showSlots(
  own: Own,
  family: IpFamily,
  { used, deniedServices }: ForwardingTable['slots'],
): void {
  const labels = { ip_family: family };
  own.set('slots', labels, used);
  own.set('slotMemory', labels, used * BYTES_OF_SLOT);
  own.set('slotsLimit', labels, SLOT_LIMITS.ofNode);
  own.set('slotsDenied', labels, deniedServices);
}

/** The watches of each kind; kinds that the cluster does not have are omitted. */
export function showSources(own: Own, sources: readonly SourceStatus[], now: number): void {
  own.clear('watchIdle', 'watchConnected', 'watchRewinds', 'shortWatches');
  for (const { kind, state, connected, rewinds, shortWatches, lastActivity } of sources) {
    if (state === 'absent' || state === 'stopped') continue;
    own.set('watchConnected', { kind }, connected ? 1 : 0);
    own.count('watchRewinds', { kind }, rewinds ?? 0);
    own.count('shortWatches', { kind }, shortWatches ?? 0);
    if (lastActivity !== undefined) own.set('watchIdle', { kind }, (now - lastActivity) / 1000);
  }
}

/** Ignored objects by kind. */
export function showIgnoredObjects(own: Own, ignoredByKind: ReadonlyMap<string, number>): void {
  own.clear('ignoredObjects');
  for (const [kind, count] of ignoredByKind) own.set('ignoredObjects', { kind }, count);
}

/** Ejected endpoints. The counters of all reasons exist from the start. */
export function showEjections(
  own: Own,
  ejection: Pick<EjectUnresponsiveEndpoints, 'stepCounts' | 'ejectedCount'>,
  families: readonly IpFamily[],
): void {
  const { stepCounts } = ejection;
  for (const family of families)
    own.set('ejectedEndpoints', { ip_family: family }, ejection.ejectedCount(family));
  own.clear('endpointEjections', 'endpointReturns');
  for (const reason of EJECTION_REASONS)
    own.count('endpointEjections', { reason: labelText(reason) }, stepCounts.get(reason) ?? 0);
  for (const reason of RETURN_REASONS)
    own.count('endpointReturns', { reason: labelText(reason) }, stepCounts.get(reason) ?? 0);
}

/** Endpoints of Services with least connections. */
export function showLeastConnections(own: Own, endpoints: Iterable<BalancedEndpoint>): void {
  own.clear('openByEndpoint', 'shareByEndpoint');
  for (const { name, endpoint, open, share } of endpoints) {
    const labels = { namespace: name.namespace, service: name.name, port: name.port, endpoint };
    own.set('openByEndpoint', labels, open);
    own.set('shareByEndpoint', labels, share);
  }
}

/** The checks of forwarding. */
export function showForwardingChecks(own: Own, states: ReadonlyMap<IpFamily, ForwardingState>): void {
  own.clear('forwardingCheckFailures');
  for (const [family, { problem, totalFailures }] of states) {
    own.set('forwardingChecked', { ip_family: family }, problem === undefined ? 1 : 0);
    own.count('forwardingCheckFailures', { ip_family: family }, totalFailures);
  }
}

/** The traffic of Services, without deleted ones. */
export function showTraffic(own: Own, series: readonly SeriesValues[]): void {
  own.clear('trafficOpen', 'trafficUnanswered', 'trafficConnections', 'trafficFailed', 'trafficBytes');
  for (const { labels, open, overdue, connections, failed, bytes } of series) {
    own.set('trafficOpen', labels, open);
    own.set('trafficUnanswered', labels, overdue);
    own.count('trafficConnections', labels, connections);
    own.count('trafficFailed', labels, failed);
    own.count('trafficBytes', labels, bytes);
  }
}

/** How long a scrape waits for the connections of endpoints that terminate, in milliseconds. */
const TERMINATING_LIMIT = 2_000;

/** Connections to endpoints that terminate; nothing if they cannot be seen, or not in time. Reads no connections while none terminates. */
export async function showTerminating(
  own: Own,
  {
    terminatingEndpoints,
    openConnections,
    families,
    clock,
  }: {
    readonly terminatingEndpoints: Pick<TerminatingEndpoints, 'addresses'>;
    readonly openConnections: Pick<OpenConnections, 'byFamily'>;
    readonly families: readonly IpFamily[];
    readonly clock: Clock;
  },
): Promise<void> {
  const sums = await inTime(clock, TERMINATING_LIMIT, (signal) =>
    openConnections.byFamily(terminatingEndpoints.addresses(), signal),
  );
  own.clear('terminatingConnections');
  if (!sums) return;
  for (const family of families) own.set('terminatingConnections', { ip_family: family }, sums[family]);
}
