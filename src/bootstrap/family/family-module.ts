import { ServiceHealthChecks } from '../../application/health/service-health-checks.js';
import { ForwardingListeners } from '../../application/sync/forwarding-listeners.js';
import { SyncFamily } from '../../application/sync/sync-family.js';
import { SyncLoop } from '../../application/sync/sync-loop.js';
import { ReconcileConntrack } from '../../application/use-cases/reconcile-conntrack.js';
import { modeInForce, modeSettings } from '../configuration/proxy-configuration.js';
import {
  CHANGE_HISTORY,
  CLOCK,
  CLUSTER_SOURCE,
  CLUSTER_STATE,
  COMMAND_LINE,
  CONNTRACK,
  EVENT_RECORDER,
  HEALTH_CHECK_LISTENER,
  LOCAL_ADDRESSES,
  LOGGER,
  METRICS,
  MODE,
  NODE_CONTEXTS,
  PROXY_HEALTH,
  SERVICE_STATUSES,
  SYNC_OBSERVER,
} from '../identifiers.js';
import { provide, type Module } from '../injection/provider.js';
import {
  BACKEND,
  CONNTRACK_RECONCILER,
  FAMILY,
  SERVED_FAMILY,
  SERVICE_HEALTH_CHECKS,
  SYNC_LOOP,
} from './identifiers.js';

const conntrackReconciler = provide(
  CONNTRACK_RECONCILER,
  {
    family: FAMILY,
    conntrack: CONNTRACK,
    localAddresses: LOCAL_ADDRESSES,
    metrics: METRICS,
    clock: CLOCK,
    logger: LOGGER,
    mode: MODE,
  },
  ({ family, conntrack, localAddresses, metrics, clock, logger, mode }) =>
    conntrack &&
    new ReconcileConntrack(
      family,
      conntrack,
      localAddresses,
      metrics,
      clock,
      logger.child({ caller: 'reconcile-conntrack' }),
      mode.udpFlows,
    ),
);

const serviceHealthChecks = provide(
  SERVICE_HEALTH_CHECKS,
  {
    family: FAMILY,
    commandLine: COMMAND_LINE,
    listener: HEALTH_CHECK_LISTENER,
    nodes: NODE_CONTEXTS,
    health: PROXY_HEALTH,
    events: EVENT_RECORDER,
    clock: CLOCK,
    logger: LOGGER,
  },
  ({ family, commandLine, listener, nodes, health, events, clock, logger }) => {
    const { nodeName, configuration } = commandLine;
    return (
      listener &&
      new ServiceHealthChecks({
        family,
        nodeName,
        listener,
        addresses: () => nodes.healthCheckAddresses(family),
        // Without a health server nobody asked to be told about the proxy (docs/spec/server.md §8.4).
        proxyHealthy: () => configuration.healthzBindAddress === '' || health.verdict().healthy,
        events,
        clock,
        logger: logger.child({ caller: 'service-health' }),
      })
    );
  },
);

const syncLoop = provide(
  SYNC_LOOP,
  {
    backend: BACKEND,
    commandLine: COMMAND_LINE,
    state: CLUSTER_STATE,
    source: CLUSTER_SOURCE,
    nodes: NODE_CONTEXTS,
    statuses: SERVICE_STATUSES,
    conntrack: CONNTRACK_RECONCILER,
    healthChecks: SERVICE_HEALTH_CHECKS,
    observer: SYNC_OBSERVER,
    history: CHANGE_HISTORY,
    clock: CLOCK,
    logger: LOGGER,
  },
  (parts) => {
    const { backend, state, source, nodes, statuses, conntrack, healthChecks, observer, history, clock } =
      parts;
    const logger = parts.logger.child({ caller: 'sync-loop' });
    const listeners = [conntrack, healthChecks].filter((listener) => listener !== undefined);
    const family = new SyncFamily(
      state,
      backend,
      nodes,
      statuses,
      clock,
      logger,
      new ForwardingListeners(listeners),
      () => source.problems,
    );
    const { configuration } = parts.commandLine;
    const periods = modeSettings(configuration, modeInForce(configuration));
    return new SyncLoop(family, backend, periods, observer, clock, logger, (changes) =>
      history.programmed(changes),
    );
  },
);

/** What one IP family has for itself. FAMILY and BACKEND are provided with it. */
export const familyModule: Module = [
  conntrackReconciler,
  serviceHealthChecks,
  syncLoop,
  provide(
    SERVED_FAMILY,
    {
      family: FAMILY,
      loop: SYNC_LOOP,
      healthChecks: SERVICE_HEALTH_CHECKS,
      conntrack: CONNTRACK_RECONCILER,
    },
    (parts) => parts,
  ),
];
