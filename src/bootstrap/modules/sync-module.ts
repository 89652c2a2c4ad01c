import { ContainerModule } from 'inversify';
import { NodeContexts } from '../../application/node/node-contexts.js';
import { ServiceStatuses } from '../../application/status/service-statuses.js';
import { SyncHistory } from '../../application/status/sync-history.js';
import { ForwardingListeners } from '../../application/sync/forwarding-listeners.js';
import { SyncFamily } from '../../application/sync/sync-family.js';
import { SyncLoop } from '../../application/sync/sync-loop.js';
import { SyncReporting } from '../../application/sync/sync-reporting.js';
import { failedPortEvents } from '../../application/use-cases/failed-port-events.js';
import { modeInForce, modeSettings } from '../configuration/proxy-configuration.js';
import {
  BACKENDS,
  CLOCK,
  CLUSTER_SOURCE,
  CLUSTER_STATE,
  COMMAND_LINE,
  CONNTRACK_RECONCILERS,
  EVENT_RECORDER,
  LOCAL_ADDRESSES,
  LOGGER,
  METRICS,
  NODE_CONTEXTS,
  PROXY_HEALTH,
  SERVICE_HEALTH_CHECKS,
  SERVICE_STATUSES,
  SYNC_HISTORY,
  SYNC_LOOPS,
  SYNC_OBSERVER,
} from '../identifiers.js';
import { nodeSettings } from '../node/node-settings.js';

/** What is programmed, and when: one loop for each family. */
export const syncModule = new ContainerModule(({ bind }) => {
  bind(SERVICE_STATUSES)
    .toDynamicValue(
      (context) =>
        new ServiceStatuses(
          failedPortEvents(context.get(EVENT_RECORDER), context.get(COMMAND_LINE).nodeName),
        ),
    )
    .inSingletonScope();
  bind(SYNC_OBSERVER)
    .toDynamicValue(
      (context) =>
        new SyncReporting(context.get(PROXY_HEALTH), context.get(METRICS), context.get(SYNC_HISTORY)),
    )
    .inSingletonScope();
  bind(SYNC_HISTORY)
    .toDynamicValue((context) => new SyncHistory(context.get(CLOCK)))
    .inSingletonScope();
  bind(NODE_CONTEXTS)
    .toDynamicValue(
      (context) =>
        new NodeContexts(
          nodeSettings(context.get(COMMAND_LINE)),
          context.get(CLUSTER_STATE),
          context.get(LOCAL_ADDRESSES),
          context.get(LOGGER).child({ caller: 'node-contexts' }),
        ),
    )
    .inSingletonScope();
  bind(SYNC_LOOPS)
    .toDynamicValue((context) => {
      const { configuration } = context.get(COMMAND_LINE);
      const clock = context.get(CLOCK);
      const logger = context.get(LOGGER).child({ caller: 'sync-loop' });
      return context.get(BACKENDS).map((backend) => {
        const listeners = [...context.get(CONNTRACK_RECONCILERS), ...context.get(SERVICE_HEALTH_CHECKS)];
        const family = new SyncFamily(
          context.get(CLUSTER_STATE),
          backend,
          context.get(NODE_CONTEXTS),
          context.get(SERVICE_STATUSES),
          clock,
          logger,
          new ForwardingListeners(listeners.filter(({ family }) => family === backend.family)),
          () => context.get(CLUSTER_SOURCE).problems,
        );
        const periods = modeSettings(configuration, modeInForce(configuration));
        return new SyncLoop(family, backend, periods, context.get(SYNC_OBSERVER), clock, logger);
      });
    })
    .inSingletonScope();
});
