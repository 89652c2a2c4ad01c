import { release } from 'node:os';
import { serviceListRoutes } from '../../adapters/debug/service-list-routes.js';
import { serviceRoutes } from '../../adapters/debug/service-routes.js';
import { statusRoutes } from '../../adapters/debug/status-routes.js';
import { Explain } from '../../application/explain/explain.js';
import { UnservedServices } from '../../application/explain/unserved-services.js';
import { ListServices } from '../../application/status/list-services.js';
import { ReportStatus } from '../../application/status/report-status.js';
import { modeInForce } from '../configuration/proxy-configuration.js';
import {
  CHANGE_HISTORY,
  CLOCK,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  CLUSTER_STATE,
  COMMAND_LINE,
  EXPLAIN_ADDRESS,
  LIVE_CONFIGURATION,
  OBJECT_REPORTS,
  PROXY_HEALTH,
  REPORT_ROUTES,
  SERVED_FAMILIES,
  SERVICE_LOOKUP,
  SERVICE_STATUSES,
  SYNC_HISTORY,
} from '../identifiers.js';
import { provide } from '../injection/provider.js';
import { KUBERNETES_VERSION, PROGRAM_VERSION } from '../version.js';

/** What the proxy tells about itself and its Services. */
export const reportRoutes = provide(
  REPORT_ROUTES,
  {
    commandLine: COMMAND_LINE,
    live: LIVE_CONFIGURATION,
    state: CLUSTER_STATE,
    source: CLUSTER_SOURCE,
    events: CLUSTER_EVENTS,
    lookup: SERVICE_LOOKUP,
    families: SERVED_FAMILIES,
    addresses: EXPLAIN_ADDRESS,
    statuses: SERVICE_STATUSES,
    reports: OBJECT_REPORTS,
    history: SYNC_HISTORY,
    changes: CHANGE_HISTORY,
    health: PROXY_HEALTH,
    clock: CLOCK,
  },
  (parts) => {
    const { commandLine, live, state, source, events, families } = parts;
    const { statuses, reports, history, changes, health, clock } = parts;
    const mode = modeInForce(commandLine.configuration);
    const loops = families.map(({ loop }) => loop);
    const healthChecks = families.flatMap(({ healthChecks: checks }) => checks ?? []);
    const unserved = new UnservedServices(state, reports, parts.lookup);
    const explain = new Explain({
      state,
      loops,
      statuses,
      reports,
      history,
      healthChecks,
      unserved,
      waitingSeconds: (family) => {
        const since = health.waitingSince(family);
        return since === undefined ? undefined : (clock.now() - since) / 1000;
      },
    });
    const isListed = (): boolean => events.missing.length === 0;
    const list = new ListServices(state, loops, statuses, (service) => unserved.why(service), isListed);
    const facts = {
      node: commandLine.nodeName,
      mode,
      versions: {
        program: PROGRAM_VERSION,
        kubernetes: KUBERNETES_VERSION,
        node: process.version,
        kernel: release(),
      },
      startedAt: clock.now(),
    };
    const news = {
      status: () => source.status(),
      missing: () => events.missing,
      refusedConfiguration: () => live.problem,
    };
    return {
      ...serviceRoutes(explain, parts.addresses, () => ({
        idle: loops.every((loop) => loop.inSync),
        appliedEvents: events.eventCount,
      })),
      ...serviceListRoutes(list),
      ...statusRoutes(
        new ReportStatus(facts, loops, news, statuses, reports, history, health, clock),
        changes,
      ),
    };
  },
);
