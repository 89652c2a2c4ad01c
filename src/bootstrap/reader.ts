import { hostname } from 'node:os';
import { ApiEventRecorder, type EventApi, LoggedEvents } from '../adapters/events/event-recorder.js';
import type { ApiClient, ApiObserver } from '../adapters/kubernetes/client/api-client.js';
import { acceptedTypes } from '../adapters/kubernetes/encoding/media-types.js';
import { KubernetesSource } from '../adapters/kubernetes/kubernetes-source.js';
import { ManifestSource } from '../adapters/manifests/manifest-source.js';
import { PrometheusMetrics } from '../adapters/metrics/prometheus-metrics.js';
import { SystemClock } from '../adapters/process/system-clock.js';
import { ProxyHealth } from '../application/health/proxy-health.js';
import { Readiness } from '../application/health/readiness.js';
import { AwaitNode, CLUSTER_TIMEOUTS, NO_WAIT } from '../application/node/await-node.js';
import { CheckNode } from '../application/node/check-node.js';
import { NodeContexts } from '../application/node/node-contexts.js';
import type { Logger } from '../application/ports/logger.js';
import { combineObservers } from '../application/ports/sync-observer.js';
import { ChangeHistory } from '../application/status/change-history.js';
import { RemainingRules } from '../application/status/remaining-rules.js';
import { ServiceStatuses } from '../application/status/service-statuses.js';
import { ServiceVerdicts, type VerdictSources } from '../application/status/service-verdicts.js';
import { SyncHistory } from '../application/status/sync-history.js';
import { FamilyLoops } from '../application/sync/sync-loop.js';
import { TerminatingEndpoints } from '../application/traffic/terminating-endpoints.js';
import { ClusterEvents } from '../application/use-cases/cluster-events.js';
import { ObjectReports } from '../application/use-cases/object-reports.js';
import {
  degradedPortEvents,
  failedPortEvents,
  ignoredPartEvents,
  LastingProblems,
  loggedVerdicts,
} from '../application/use-cases/port-events.js';
import { type IpFamily, IP_FAMILIES } from '../domain/net/ip-family.js';
import { ClusterState } from '../domain/state/cluster-state.js';
import { LiveConfiguration, type CommandLine } from './configuration/command-line.js';
import { PROGRAM_VERSION } from './version.js';
import { modeInForce, modeSettings } from './configuration/proxy-configuration.js';
import { featureGateStates } from './configuration/releases.js';
import type { Part } from './life-cycle.js';
import { makeParts, type Providers, type ReaderParts, type ReadingParts } from './parts.js';
import { checkedSettings, nodeSettings, NodeAddresses } from './this-node.js';

/** Puts together what reads objects and serves nothing. */
export function composeReader(
  commandLine: CommandLine,
  families: readonly IpFamily[],
  logger: Logger,
  replacements: Partial<Providers<ReadingParts>> = {},
): ReadingParts {
  return makeParts<ReaderParts>({
    ...readingProviders(commandLine, families, logger),
    served: () => [],
    ...replacements,
  });
}

/** The parts of a reader that run: they start after, and stop before, what else reads addresses. */
export function addressesPart({ localAddresses }: ReadingParts): Part {
  return {
    name: 'addresses of this node',
    stop: () => localAddresses.close?.(),
  };
}

export function sourcePart({ source, objectSink, clusterEvents }: ReadingParts): Part {
  return {
    name: 'cluster source',
    start: (signal) => source.start(objectSink, signal),
    async stop() {
      await source.stop();
      // Until then lists may arrive.
      clusterEvents.stop();
    },
  };
}

/** How the parts that read objects are made, except those of the families that are served. */
export function readingProviders(
  commandLine: CommandLine,
  families: readonly IpFamily[],
  root: Logger,
): Omit<Providers<ReaderParts>, 'served'> {
  const { configuration, manifests, once, request, nodeName, version } = commandLine;
  const loggerOf = (caller: string): Logger => root.child({ caller });
  const isProxy = request.name === 'run';
  /** Nothing is read once more. */
  const readsOnce = once || !isProxy;
  return {
    commandLine: () => commandLine,
    live: () => new LiveConfiguration(commandLine),
    families: () => families,
    logger: () => root,
    clock: () => new SystemClock(),
    localAddresses: ({ clock, logger }) => new NodeAddresses(clock, logger),

    state: () => new ClusterState(),
    reports(parts) {
      const { source, clock } = parts;
      const verdicts = lazily(() => parts.serviceVerdicts);
      return new ObjectReports(
        loggerOf('object-reports'),
        clock,
        () => source.problems,
        (service) => verdicts().touch(service),
      );
    },
    apiClient(parts) {
      let client: Promise<ApiClient> | undefined;
      return () => (client ??= openApiClient(parts, loggerOf('api-client')));
    },
    source({ apiClient, clock }) {
      const logger = loggerOf('cluster-source');
      return manifests.length > 0
        ? new ManifestSource({ paths: manifests, watch: !readsOnce, logger })
        : new KubernetesSource(apiClient, { nodeName }, clock, logger);
    },
    terminatingEndpoints: ({ clock }) => new TerminatingEndpoints(clock),
    clusterEvents(parts) {
      const { state, loops, reports, syncObserver, health, awaitNode, eventRecorder, clock } = parts;
      return new ClusterEvents(
        {
          state,
          loops,
          reports,
          terminating: parts.terminatingEndpoints,
          observer: syncObserver,
          logger: loggerOf('config'),
          nodeName,
          startTime: clock.now(),
          serviceFrontendsLimit: configuration.serviceFrontendsLimit,
          ignoredParts: isProxy ? ignoredPartEvents(eventRecorder) : undefined,
          nodeChanged({ draining }) {
            health.setNodeEligible(!draining);
            awaitNode.changed();
          },
        },
        // A proxy that keeps running picks up late service ranges; what reads only once must have them.
        readsOnce
          ? { needed: ['Service', 'EndpointSlice', 'Node', 'ServiceCIDR'], wanted: [] }
          : { needed: ['Service', 'EndpointSlice', 'Node'], wanted: ['ServiceCIDR'] },
        clock,
        () => awaitNode.listed(),
      );
    },
    objectSink: ({ clusterEvents }) => clusterEvents,
    // To the log where there is no API server, or nothing runs longer than one sync.
    eventRecorder({ apiClient, clock }) {
      const logger = loggerOf('event-recorder');
      if (manifests.length > 0 || readsOnce) return new LoggedEvents(logger);
      const api = async (): Promise<EventApi> => {
        const { eventRequests } = await import('../adapters/events/event-requests.js');
        return { requests: eventRequests, client: await apiClient() };
      };
      return new ApiEventRecorder(api, hostname(), clock, logger);
    },

    checkNode: ({ state }) =>
      new CheckNode(checkedSettings(commandLine), families, () => state.node, loggerOf('check-node')),
    nodeTimeouts: () => (manifests.length > 0 ? NO_WAIT : CLUSTER_TIMEOUTS),
    awaitNode: ({ nodeTimeouts, state, checkNode, clock }) =>
      new AwaitNode(
        nodeName,
        configuration.detectLocalMode === 'NodeCIDR',
        nodeTimeouts,
        () => state.node,
        checkNode,
        clock,
        loggerOf('await-node'),
      ),
    contexts: ({ state, localAddresses }) =>
      new NodeContexts(nodeSettings(commandLine), state, localAddresses, loggerOf('node-contexts')),

    loops: ({ served }) => new FamilyLoops(served.map(({ loop }) => loop)),
    statuses(parts) {
      const { eventRecorder, clock } = parts;
      const verdicts = lazily(() => parts.serviceVerdicts);
      return new ServiceStatuses(
        failedPortEvents(eventRecorder, nodeName),
        degradedPortEvents(eventRecorder, nodeName, clock, (...port) => verdicts().ofPort(...port)),
        (service) => verdicts().touch(service),
      );
    },
    serviceVerdicts: (parts) => judgeServices(parts),
    lastingProblems: (parts) =>
      new LastingProblems(parts.eventRecorder, (service) => parts.serviceVerdicts.of(service), parts.clock),
    syncHistory: ({ clock }) => new SyncHistory(clock),
    changeHistory: ({ statuses, clock }) => new ChangeHistory(statuses, clock),
    remainingRules: () => new RemainingRules(),
    syncObserver: ({ health, metrics, syncHistory, changeHistory, serviceVerdicts }) =>
      combineObservers([health, metrics, syncHistory, changeHistory, serviceVerdicts]),
    health({ source, clock }) {
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
    metrics: ({ packetCounters, rejectedPackets, clock }) =>
      new PrometheusMetrics({
        clock,
        mode: modeInForce(configuration),
        version,
        programVersion: PROGRAM_VERSION,
        features: featureGateStates(configuration.gates, configuration.kubernetesVersion),
        packetCounters,
        rejectedPackets,
      }),
    packetCounters: () => undefined,
    rejectedPackets: () => undefined,
  };
}

/** The verdicts on Services, which are logged, and recorded as events. @param more sources, of a proxy */
export function judgeServices(parts: ReaderParts, more: Partial<VerdictSources> = {}): ServiceVerdicts {
  const { state, statuses, reports, clock } = parts;
  const log = loggedVerdicts(parts.logger.child({ caller: 'service-verdicts' }), clock);
  const lasting = lazily(() => parts.lastingProblems);
  return new ServiceVerdicts(
    { state, statuses, reports, loops: lazily(() => parts.served.map(({ loop }) => loop)), ...more },
    clock,
    (...change) => {
      log(...change);
      lasting().changed(...change);
    },
  );
}

/** Made when first needed, because parts depend on each other. */
function lazily<Made>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => (made ??= make());
}

/** A client of the API server, as the command line and clientConnection describe it. Nothing is read or opened yet. */
async function openApiClient(parts: ReaderParts, logger: Logger): Promise<ApiClient> {
  const { ApiClient, RequestRate } = await import('../adapters/kubernetes/client/api-client.js');
  const { commandLine, clock, metrics, contexts, loops } = parts;
  const { master, configuration } = commandLine;
  const { kubeconfig, qps, burst, contentType, acceptContentTypes } = configuration.clientConnection;
  const { accept, unsupported } = acceptedTypes(contentType, acceptContentTypes);
  if (unsupported.length > 0)
    logger.warn({ unsupported, accept }, 'ignoring unsupported content types of clientConnection');
  const observer: ApiObserver = {
    answered: (...answered) => metrics.answered(...answered),
    waited: (...waited) => metrics.waited(...waited),
    connecting(address, port) {
      if (contexts.usesApiServer(address, port)) loops.note(IP_FAMILIES, (pending) => pending.nodeChanged());
    },
  };
  return new ApiClient({ ...(kubeconfig && { kubeconfig }), ...(master && { master }) }, clock, {
    accept,
    rate: new RequestRate(qps, burst, clock),
    observer,
  });
}
