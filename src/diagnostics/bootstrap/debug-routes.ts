import {
  differenceRoutes,
  drainRoutes,
  searchRoutes,
  serviceListRoutes,
  serviceRoutes,
  statusRoutes,
  traceRoutes,
} from '../adapters/debug/report-routes.js';
import { trafficRoutes } from '../adapters/debug/traffic-routes.js';
import { readOnly, type Routes } from '../../adapters/http/router.js';
import { pageRoutes } from '../adapters/page/page-routes.js';
import { ReportDrain } from '../application/drain/report-drain.js';
import { Diff } from '../application/difference/diff.js';
import { modeInForce } from '../../bootstrap/configuration/proxy-configuration.js';
import type { LocalhostLookup } from '../../application/status/port-status.js';
import { explainAddress, withTracing } from './tracing.js';
import type { DiagnosedParts } from '../../bootstrap/parts.js';
import type { TraceAnswer } from '../application/trace/answer.js';
import type { TraceQuery } from '../domain/trace/query.js';
import { ForwardingCauses } from '../application/status/forwarding-causes.js';
import { CannotTraceError, type TracedRules, type TracePackets } from '../application/trace/trace-packets.js';
import { ModeRules } from './mode-rules.js';
import { release } from 'node:os';
import type { ExplainAddress } from '../application/explain/explain-address.js';
import { Explain } from '../application/explain/explain.js';
import { ListServices } from '../application/status/list-services.js';
import { SearchServices } from '../application/status/search-services.js';
import { placesIn, podsIn, type NamedPod } from '../application/trace/named-ends.js';
import { ReportStatus } from '../application/status/report-status.js';
import { counted } from '../../application/words.js';
import { timeText } from '../../domain/model/text.js';
import type { CommandLine } from '../../bootstrap/configuration/command-line.js';
import { EXTERNAL_IPS_END } from '../../domain/validation/warnings.js';
import { fullVersion, PROGRAM_VERSION } from '../../bootstrap/version.js';

/** Everything that the proxy reports beyond what kube-proxy does: the routes under `/debug/`, and the page. */
export function debugRoutes(parts: DiagnosedParts, startTime: number): Routes {
  const loops = parts.served.map(({ loop }) => loop);
  const addresses = explainAddress(
    parts,
    loops,
    parts.serviceVerdicts,
    parts.ejection?.ejectionTimes,
    parts.endpointAnswers,
  );
  const trace = tracing(parts);
  const causes = new ForwardingCauses(
    () => parts.checkForwarding?.faults ?? [],
    (query) => trace(query, 'actual'),
  );
  return {
    ...readOnly({
      ...reportRoutes(parts, addresses, startTime, causes),
      ...openTraceRoutes(parts, trace),
      ...trafficRoutes(parts.trafficWatchers),
      ...differenceRoutes(new Diff(modeInForce(parts.commandLine.configuration), loops)),
    }),
    ...pageRoutes(),
  };
}

/** Traces packets. Opens what it needs for each query, and keeps nothing. */
function tracing(parts: DiagnosedParts) {
  const { mode, served, localAddresses, ejection, commandLine, logger } = parts;
  const modeRules = new ModeRules(commandLine.configuration, logger, mode);
  const loops = served.map(({ loop }) => loop);
  return async (query: TraceQuery, rules: TracedRules, signal?: AbortSignal): Promise<TraceAnswer> => {
    if (mode.isEmbedded) throw new CannotTraceError(`packets cannot be followed in ${mode.name} mode`);
    const follow = (packets: TracePackets) => packets.trace(query, rules, signal);
    return withTracing(parts, loops, localAddresses, modeRules, follow, ejection);
  };
}

function openTraceRoutes(parts: DiagnosedParts, trace: ReturnType<typeof tracing>): Routes {
  const { served, state } = parts;
  const loops = served.map(({ loop }) => loop);
  const names = {
    places: () => Promise.resolve(placesIn(loops)),
    pods: (pod: NamedPod) => Promise.resolve(podsIn(state, pod)),
    reason: async (service: string) => (await parts.serviceVerdicts.find(service)).reason,
  };
  return traceRoutes(trace, names);
}

/** Reports about the proxy and its Services. */
function reportRoutes(
  parts: DiagnosedParts,
  addresses: ExplainAddress,
  startTime: number,
  causes: ForwardingCauses,
): Routes {
  const { commandLine, state, source, clusterEvents, served, ejection, balancing, mode } = parts;
  const { forwardingObstacles: obstacles } = parts;
  const { statuses, reports, syncHistory: history, changeHistory, remainingRules, health, clock } = parts;
  const loops = served.map(({ loop }) => loop);
  const { serviceVerdicts: verdicts, endpointAnswers: answers } = parts;
  const explain = new Explain({
    state,
    loops,
    verdicts,
    history,
    healthChecks: served.flatMap(({ healthChecks }) => healthChecks ?? []),
    ejectionTimes: ejection?.ejectionTimes,
    answers,
    obstacles:
      obstacles &&
      (async (entry) => {
        await obstacles.renew();
        return obstacles.of(entry);
      }),
    mode: modeInForce(commandLine.configuration),
    terminating: {
      since: (address) => parts.terminatingEndpoints.since(address),
      to: (...asked) => parts.openConnections.to(...asked),
    },
    waitingSeconds: (family) => {
      const since = health.waitingSince(family);
      return since === undefined ? undefined : (clock.now() - since) / 1000;
    },
  });
  const isListed = (): boolean => clusterEvents.missing.length === 0;
  const list = new ListServices(state, loops, statuses, verdicts, isListed, localhostLookup(served), answers);
  const facts = {
    node: commandLine.nodeName,
    mode: modeInForce(commandLine.configuration),
    versions: {
      program: PROGRAM_VERSION,
      kubernetes: fullVersion(commandLine.configuration.kubernetesVersion),
      nodejs: process.version,
      kernel: release(),
    },
    startTime: timeText(startTime),
  };
  const news = {
    status: () => source.status(),
    missing: () => clusterEvents.missing,
    removing: () => remainingRules.removing,
    causes: () => causes.texts,
    warnings: () => [
      ...parts.checkNode.warnings,
      ...(mode.variantMix?.current ?? []),
      ...(ejection?.warnings ?? []),
      ...(balancing?.warnings ?? []),
      ...(parts.checkForwarding?.warnings ?? []),
      ...externalIPsWarning(state.externalIPServices, commandLine.configuration),
    ],
  };
  const report = new ReportStatus(
    facts,
    loops,
    news,
    parts.nodeState,
    verdicts,
    statuses,
    reports,
    history,
    health,
    clock,
  );
  return {
    ...serviceRoutes(explain, addresses, () => ({
      idle: !source.delivering && loops.every((loop) => loop.inSync),
      appliedEvents: clusterEvents.eventCount,
      totalChanges: changeHistory.total,
    })),
    ...serviceListRoutes(list),
    ...searchRoutes(new SearchServices(state, loops, list, verdicts)),
    ...drainRoutes(
      new ReportDrain({
        ...{ node: commandLine.nodeName, state, loops, statuses, isListed },
        terminating: parts.terminatingEndpoints,
        connections: parts.openConnections,
      }),
    ),
    ...statusRoutes(report, changeHistory, async () => {
      await Promise.all([mode.variantMix?.renew(), obstacles?.renew(), answers.read(), causes.renew()]);
    }),
  };
}

function localhostLookup(served: DiagnosedParts['served']): LocalhostLookup {
  return (family, key) => served.find((one) => one.family === family)?.localhostNodePorts?.placeOf(key);
}

function externalIPsWarning(services: number, { gates }: CommandLine['configuration']): readonly string[] {
  if (services === 0) return [];
  const what = gates.AllowServiceExternalIPs
    ? EXTERNAL_IPS_END
    : 'not served: the feature gate AllowServiceExternalIPs is off';
  return [`${counted(services, 'Service has', 'Services have')} external IPs, which are ${what}`];
}
