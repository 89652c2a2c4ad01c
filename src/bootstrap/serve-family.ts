import { ServiceHealthChecks } from '../application/health/service-health-checks.js';
import { LocalhostNodePorts } from '../application/localhost/localhost-node-ports.js';
import { combineListeners } from '../application/ports/forwarding-listener.js';
import type { Logger } from '../application/ports/logger.js';
import type { ConnectionTable } from '../application/ports/node/endpoint-connections.js';
import type { WatchedProtocol } from '../application/ports/node/conntrack.js';
import { SyncLoop } from '../application/sync/sync-loop.js';
import { ReconcileConntrack } from '../application/use-cases/reconcile-conntrack.js';
import { ResetDeadConnections } from '../application/use-cases/reset-dead-connections.js';
import { Sync } from '../application/use-cases/sync.js';
import type { IpFamily } from '../domain/net/ip-family.js';
import { modeInForce, modeSettings } from './configuration/proxy-configuration.js';
import type { ProxyParts, ServedFamily } from './parts.js';

/** Puts together what one IP family has for itself. */
export function serveFamily(parts: ProxyParts, family: IpFamily): ServedFamily {
  const { commandLine, mode, state, source, reports, contexts, statuses, health, metrics, clock } = parts;
  const { conntrack, localAddresses, healthCheckListener, localhostRelay, ejection, balancing } = parts;
  const { nodeName, configuration } = commandLine;
  const loggerOf = (caller: string): Logger => parts.logger.child({ caller });

  const ofMode = mode.backend(family, parts);
  const backend = parts.checkForwarding?.checked(ofMode) ?? ofMode;
  const reconcilers = (['UDP', 'TCP', 'SCTP'] as const).flatMap((protocol) => {
    if (!conntrack) return [];
    const logger = loggerOf('reconcile-conntrack');
    const { flows } = mode;
    return new ReconcileConntrack(family, protocol, conntrack, localAddresses, metrics, clock, logger, flows);
  });
  const resets = protocolsToReset(mode, configuration).flatMap((protocol) => {
    if (!conntrack) return [];
    const logger = loggerOf('reset-dead-connections');
    return new ResetDeadConnections(
      family,
      protocol,
      conntrack,
      metrics,
      clock,
      logger,
      mode.connectionTable,
    );
  });
  const healthChecks =
    healthCheckListener &&
    new ServiceHealthChecks({
      family,
      nodeName,
      listener: healthCheckListener,
      addresses: () => contexts.healthCheckAddresses(family),
      // Without a health server its responses do not include the health of the proxy (docs/internals/spec/server.md §8.4).
      proxyHealthy: () => configuration.healthzBindAddress === '' || health.verdict().healthy,
      events: parts.eventRecorder,
      clock,
      logger: loggerOf('service-health'),
    });
  const localhostNodePorts =
    localhostRelay &&
    new LocalhostNodePorts({
      family,
      relay: localhostRelay,
      metrics,
      report: (key, problem) => sync.outcomes.setMissing(key, problem),
      clock,
      logger: loggerOf('localhost-node-ports'),
    });
  const listeners = [
    ...reconcilers,
    ...resets,
    healthChecks,
    localhostNodePorts,
    ejection?.listener(family),
    balancing?.listener(family),
  ];
  const sync = new Sync(
    state,
    backend,
    contexts,
    statuses,
    clock,
    loggerOf('sync-loop'),
    combineListeners(listeners.filter((listener) => listener !== undefined)),
    () => source.problems,
    { ejected: ejection?.ejectedEndpoints(family), weights: balancing?.effectiveWeights(family) },
    () => reports.rejectedServices,
  );
  const loop = new SyncLoop(
    sync,
    backend,
    modeSettings(configuration, modeInForce(configuration)),
    parts.syncObserver,
    clock,
    loggerOf('sync-loop'),
  );
  return { family, loop, healthChecks, localhostNodePorts, conntrack: reconcilers, resets };
}

/** The protocols whose connections to dead endpoints this program resets. */
export function protocolsToReset(
  { name, connectionTable }: { readonly name: string; readonly connectionTable?: ConnectionTable },
  { resetDeadConnections }: { readonly resetDeadConnections: boolean },
): readonly WatchedProtocol[] {
  // In userspace mode the proxy itself holds the connections, and closes them.
  if (!resetDeadConnections || name === 'userspace') return [];
  // IPVS deletes a real server of SCTP with its associations.
  return connectionTable ? ['TCP'] : ['TCP', 'SCTP'];
}
