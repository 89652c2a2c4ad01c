import { ServiceHealthChecks } from '../../application/health/service-health-checks.js';
import { LocalhostNodePorts, type ReportProblem } from '../../application/localhost/localhost-node-ports.js';
import { ForwardingListeners } from '../../application/ports/forwarding-listener.js';
import { Sync } from '../../application/use-cases/sync.js';
import { SyncLoop } from '../../application/sync/sync-loop.js';
import { ReconcileConntrack } from '../../application/use-cases/reconcile-conntrack.js';
import { ResetDeadConnections } from '../../application/use-cases/reset-dead-connections.js';
import { modeInForce, modeSettings } from '../configuration/proxy-configuration.js';
import type { FamilyParts } from '../parts/proxy-parts.js';
import { protocolsToReset, type ServedFamily } from './served-family.js';

const PROTOCOLS = ['UDP', 'TCP', 'SCTP'] as const;

/** Puts together what one IP family has for itself. */
export function serveFamily(parts: FamilyParts): ServedFamily {
  const { family } = parts;
  const conntrack = conntrackReconcilers(parts);
  const resets = deadConnectionResets(parts);
  const healthChecks = serviceHealthChecks(parts);
  const ejection = parts.ejection?.listener(family);
  const localhostNodePorts = relayedNodePorts(parts, (key, problem) => sync.lacking(key, problem));
  const listeners = [...conntrack, ...resets, healthChecks, localhostNodePorts, ejection].filter(
    (listener) => listener !== undefined,
  );
  const sync = syncFamily(parts, new ForwardingListeners(listeners));
  return { family, conntrack, resets, healthChecks, localhostNodePorts, loop: syncLoop(parts, sync) };
}

function conntrackReconcilers(parts: FamilyParts): readonly ReconcileConntrack[] {
  const { family, conntrack, localAddresses: addresses, metrics, clock, mode } = parts;
  if (!conntrack) return [];
  const logger = parts.logger.child({ caller: 'reconcile-conntrack' });
  return PROTOCOLS.map(
    (protocol) =>
      new ReconcileConntrack(family, protocol, conntrack, addresses, metrics, clock, logger, mode.flows),
  );
}

function deadConnectionResets(parts: FamilyParts): readonly ResetDeadConnections[] {
  const { family, conntrack, metrics, clock, mode, commandLine } = parts;
  if (!conntrack) return [];
  const logger = parts.logger.child({ caller: 'reset-dead-connections' });
  return protocolsToReset(mode, commandLine.configuration).map(
    (protocol) => new ResetDeadConnections(family, protocol, conntrack, metrics, clock, logger, mode.holder),
  );
}

function serviceHealthChecks(parts: FamilyParts): ServiceHealthChecks | undefined {
  const { family, commandLine, healthCheckListener: listener, contexts, health, clock, logger } = parts;
  const { nodeName, configuration } = commandLine;
  return (
    listener &&
    new ServiceHealthChecks({
      family,
      nodeName,
      listener,
      addresses: () => contexts.healthCheckAddresses(family),
      // Without a health server nobody asked to be told about the proxy (docs/spec/server.md §8.4).
      proxyHealthy: () => configuration.healthzBindAddress === '' || health.verdict().healthy,
      events: parts.eventRecorder,
      clock,
      logger: logger.child({ caller: 'service-health' }),
    })
  );
}

function relayedNodePorts(parts: FamilyParts, report: ReportProblem): LocalhostNodePorts | undefined {
  const { family, localhostRelay: relay, metrics, clock } = parts;
  const logger = parts.logger.child({ caller: 'localhost-node-ports' });
  return relay && new LocalhostNodePorts({ family, relay, metrics, report, clock, logger });
}

function syncFamily(parts: FamilyParts, listeners: ForwardingListeners): Sync {
  const { backend, state, source, reports, contexts, statuses, clock, ejection } = parts;
  return new Sync(
    state,
    backend,
    contexts,
    statuses,
    clock,
    parts.logger.child({ caller: 'sync-loop' }),
    listeners,
    () => source.problems,
    ejection?.ejectedEndpoints(parts.family),
    () => reports.rejectedServices,
  );
}

function syncLoop(parts: FamilyParts, sync: Sync): SyncLoop {
  const { backend, syncObserver, changeHistory, clock } = parts;
  const { configuration } = parts.commandLine;
  const logger = parts.logger.child({ caller: 'sync-loop' });
  const periods = modeSettings(configuration, modeInForce(configuration));
  return new SyncLoop(sync, backend, periods, syncObserver, clock, logger, (family, report) =>
    changeHistory.programmed(family, report),
  );
}
