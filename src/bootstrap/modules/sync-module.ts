import { PrometheusMetrics } from '../../adapters/metrics/prometheus-metrics.js';
import { ProxyHealth } from '../../application/health/proxy-health.js';
import { Readiness } from '../../application/health/readiness.js';
import { ChangeHistory } from '../../application/status/change-history.js';
import { RemainingRules } from '../../application/status/remaining-rules.js';
import { ServiceStatuses } from '../../application/status/service-statuses.js';
import { SyncHistory } from '../../application/status/sync-history.js';
import { SyncObservers } from '../../application/ports/sync-observer.js';
import { degradedPortEvents, failedPortEvents } from '../../application/use-cases/port-events.js';
import { modeInForce, modeSettings } from '../configuration/proxy-configuration.js';
import { featureGateStates } from '../configuration/schema/feature-gates.js';
import type { ReadingModule } from '../parts/reading-parts.js';

/** What is known of the syncs of all families: statuses, history, health, metrics. */
export const syncModule = {
  statuses: ({ eventRecorder, commandLine, clock }) =>
    new ServiceStatuses(
      failedPortEvents(eventRecorder, commandLine.nodeName),
      degradedPortEvents(eventRecorder, commandLine.nodeName, clock),
    ),
  syncHistory: ({ clock }) => new SyncHistory(clock),
  remainingRules: () => new RemainingRules(),
  changeHistory: ({ statuses, clock }) => new ChangeHistory(statuses, clock),
  syncObserver: ({ health, metrics, syncHistory, changeHistory }) =>
    new SyncObservers([health, metrics, syncHistory, changeHistory]),
  health({ commandLine, source, clock }) {
    const { configuration } = commandLine;
    const { syncPeriod } = modeSettings(configuration, modeInForce(configuration));
    return new ProxyHealth(clock, 2 * syncPeriod, () => source.status());
  },
  readiness: ({ health, statuses, clusterEvents, served, remainingRules, clock }) =>
    new Readiness(
      health,
      statuses,
      () => clusterEvents.missing,
      () => [...new Set(served.flatMap(({ loop }) => loop.unreadSources))],
      () => remainingRules.reasons,
      clock,
    ),
  metrics: ({ commandLine: { configuration, version }, packetCounters, rejectedPackets, clock }) =>
    new PrometheusMetrics({
      clock,
      mode: modeInForce(configuration),
      version,
      features: featureGateStates(configuration.gates, configuration.kubernetesVersion),
      packetCounters,
      rejectedPackets,
    }),
  packetCounters: () => undefined,
  rejectedPackets: () => undefined,
} satisfies ReadingModule;
