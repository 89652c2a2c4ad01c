import { ProxyHealth } from '../../application/health/proxy-health.js';
import { Readiness } from '../../application/health/readiness.js';
import { ChangeHistory } from '../../application/status/change-history.js';
import { ServiceStatuses } from '../../application/status/service-statuses.js';
import { SyncHistory } from '../../application/status/sync-history.js';
import { SyncReporting } from '../../application/sync/sync-reporting.js';
import { failedPortEvents } from '../../application/use-cases/failed-port-events.js';
import { modeInForce, modeSettings } from '../configuration/proxy-configuration.js';
import {
  CHANGE_HISTORY,
  CLOCK,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  COMMAND_LINE,
  EVENT_RECORDER,
  METRICS,
  PROXY_HEALTH,
  READINESS,
  SERVED_FAMILIES,
  SERVICE_STATUSES,
  SYNC_HISTORY,
  SYNC_OBSERVER,
} from '../identifiers.js';
import { provide, type Module } from '../injection/provider.js';

/** What is known of the syncs of all families: statuses, history, health. */
export const syncModule: Module = [
  provide(
    SERVICE_STATUSES,
    { events: EVENT_RECORDER, commandLine: COMMAND_LINE },
    ({ events, commandLine }) => new ServiceStatuses(failedPortEvents(events, commandLine.nodeName)),
  ),
  provide(SYNC_HISTORY, { clock: CLOCK }, ({ clock }) => new SyncHistory(clock)),
  provide(
    CHANGE_HISTORY,
    { statuses: SERVICE_STATUSES, clock: CLOCK },
    ({ statuses, clock }) => new ChangeHistory(statuses, clock),
  ),
  provide(
    SYNC_OBSERVER,
    { health: PROXY_HEALTH, metrics: METRICS, history: SYNC_HISTORY, changes: CHANGE_HISTORY },
    ({ health, metrics, history, changes }) => new SyncReporting(health, metrics, history, changes),
  ),
  provide(
    PROXY_HEALTH,
    { commandLine: COMMAND_LINE, source: CLUSTER_SOURCE, clock: CLOCK },
    ({ commandLine, source, clock }) => {
      const { configuration } = commandLine;
      const { syncPeriod } = modeSettings(configuration, modeInForce(configuration));
      return new ProxyHealth(clock, 2 * syncPeriod, () => source.status());
    },
  ),
  provide(
    READINESS,
    {
      health: PROXY_HEALTH,
      statuses: SERVICE_STATUSES,
      events: CLUSTER_EVENTS,
      families: SERVED_FAMILIES,
      clock: CLOCK,
    },
    ({ health, statuses, events, families, clock }) =>
      new Readiness(
        health,
        statuses,
        () => events.missing,
        () => [...new Set(families.flatMap(({ loop }) => loop.keptFor))],
        clock,
      ),
  ),
];
