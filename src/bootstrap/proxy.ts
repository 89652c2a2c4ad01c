import { NetlinkConntrack } from '../adapters/conntrack/netlink-conntrack.js';
import { NetlinkFlowEvents } from '../adapters/conntrack/netlink-flow-events.js';
import { TcpEndpointConnector } from '../adapters/endpoint-connections.js';
import { LoopbackProbe } from '../adapters/health/loopback-probe.js';
import { KernelForwarding } from '../adapters/rtnetlink/kernel-forwarding.js';
import { NetlinkRoutes } from '../adapters/rtnetlink/netlink-routes.js';
import { raiseOpenFileLimit } from '../adapters/userspace/open-file-limit.js';
import { errorMessage } from '../application/error-message.js';
import {
  EjectUnresponsiveEndpoints,
  EjectionReports,
} from '../application/failover/eject-unresponsive-endpoints.js';
import { CheckForwarding } from '../application/health/check-forwarding.js';
import { ForwardingObstacles } from '../application/node/forwarding-obstacles.js';
import { NodeState } from '../application/status/node-state.js';
import type { Logger } from '../application/ports/logger.js';
import { BalanceByConnections } from '../application/traffic/balance-by-connections.js';
import type { CountingTargets } from '../application/traffic/periodic-check.js';
import { TrafficCount } from '../application/traffic/traffic-count.js';
import { TrafficMetrics } from '../application/traffic/traffic-metrics.js';
import { OpenConnections } from '../application/traffic/terminating-endpoints.js';
import { EndpointAnswers } from '../application/traffic/endpoint-answers.js';
import { TrafficWatchers } from '../application/traffic/traffic-watchers.js';
import { IP_FAMILIES } from '../domain/net/ip-family.js';
import type { CommandLine } from './configuration/command-line.js';
import type { Part } from './life-cycle.js';
import type { OpenMode } from './modes/mode.js';
import { makeParts, type Providers, type ProxyParts } from './parts.js';
import { addressesPart, judgeServices, readingProviders, sourcePart } from './reader.js';
import { serveFamily } from './serve-family.js';
import { scrapeGauges, serverProviders } from './servers.js';
import { nodeEvent } from './this-node.js';

const NO_EJECTION =
  'userspace mode ejects no unresponsive endpoints: it retries each unanswered connection with other endpoints instead';

const EMBEDDED = 'the embedding program forwards connections';
const RELAYED = 'in userspace mode the proxy itself carries connections';

/**
 * Puts the parts of a proxy together. Nothing runs yet.
 * @param replacements what counts instead of the parts of this program
 */
export function composeProxy(
  commandLine: CommandLine,
  mode: OpenMode,
  root: Logger,
  replacements: Partial<Providers<ProxyParts>> = {},
): ProxyParts {
  const { once, nodeName, configuration } = commandLine;
  const loggerOf = (caller: string): Logger => root.child({ caller });
  return makeParts<ProxyParts>({
    ...readingProviders(commandLine, mode.families, root),
    ...serverProviders(commandLine, loggerOf),
    mode: () => mode,
    packetCounters: () => mode.packetCounters,
    rejectedPackets: () => mode.rejectedPackets,
    conntrack: () => new NetlinkConntrack(),
    served: (parts) => parts.families.map((family) => serveFamily(parts, family)),
    // In userspace mode packets pass through this process instead.
    forwardingObstacles(parts) {
      if (mode.name === 'userspace') return undefined;
      return new ForwardingObstacles(
        parts.served.map(({ family, loop }) => ({ family, table: loop.table })),
        { forwarding: new KernelForwarding(), routes: new NetlinkRoutes(), addresses: parts.localAddresses },
        parts.clock,
        loggerOf('packet-forwarding'),
        () => parts.serviceVerdicts.touchAll(),
      );
    },
    // In userspace mode the process itself would listen on the frontend, which it does already.
    checkForwarding(parts) {
      const isPossible = !once && !mode.isEmbedded && mode.name !== 'userspace';
      if (!isPossible || !configuration.checkForwarding) return undefined;
      const { health, eventRecorder: events, clock } = parts;
      return new CheckForwarding({
        nodeName,
        probe: new LoopbackProbe(clock),
        // It looks at the families, which the check is a part of.
        obstacles: () => parts.forwardingObstacles,
        health,
        events,
        clock,
        logger: loggerOf('forwarding-check'),
      });
    },
    nodeState: (parts) =>
      new NodeState({
        loops: parts.served.map(({ loop }) => loop),
        statuses: parts.statuses,
        reports: parts.reports,
        history: parts.syncHistory,
        health: parts.health,
        obstacles: () => parts.forwardingObstacles?.reasons ?? [],
        rejectedConfiguration: () => parts.live.problem,
        remainingRules: () => parts.remainingRules.reasons,
      }),
    serviceVerdicts: (parts) =>
      judgeServices(parts, {
        lookup: parts.serviceLookup,
        localhost: (family, key) =>
          parts.served.find((one) => one.family === family)?.localhostNodePorts?.placeOf(key),
        answers: parts.endpointAnswers,
        obstacles: (entry) => parts.forwardingObstacles?.known(entry) ?? [],
      }),
    trafficWatchers(parts) {
      const { localAddresses, clock } = parts;
      const flowEvents = new NetlinkFlowEvents({ throughIpvs: mode.name === 'ipvs' });
      const sources = {
        entries: () => parts.served.flatMap(({ loop }) => [...loop.table.entries()]),
        localAddresses: () => localAddresses.list(),
      };
      return new TrafficWatchers(
        () => new TrafficCount(flowEvents, sources, clock, loggerOf('traffic')),
        clock,
      );
    },
    openConnections: ({ clock }) =>
      new OpenConnections(
        new NetlinkFlowEvents({ throughIpvs: mode.name === 'ipvs' }),
        clock,
        mode.isEmbedded ? EMBEDDED : mode.name === 'userspace' ? RELAYED : undefined,
      ),
    endpointAnswers: ({ trafficWatchers, clock }) => new EndpointAnswers(trafficWatchers, clock),
    trafficMetrics({ trafficWatchers }) {
      const { serviceTrafficMetrics, serviceTrafficMetricsLimit: limit } = configuration;
      return serviceTrafficMetrics
        ? new TrafficMetrics(trafficWatchers, limit, loggerOf('traffic'))
        : undefined;
    },
    // It decides by the connections that it has observed for a while.
    ejection(parts) {
      const { conntrack, eventRecorder, clock } = parts;
      if (once || !conntrack) return undefined;
      return new EjectUnresponsiveEndpoints(
        () => targetsOf(parts),
        new EjectionReports(nodeName, eventRecorder, loggerOf('failover')),
        new TcpEndpointConnector(clock),
        clock,
        mode.name === 'userspace' ? NO_EJECTION : undefined,
      );
    },
    balancing(parts) {
      const { conntrack, clock } = parts;
      if (once || !conntrack || mode.name !== 'nftables') return undefined;
      return new BalanceByConnections(() => targetsOf(parts), clock, loggerOf('balancing'));
    },
    setUpMachine: () => async () => mode.setUp?.(),
    // A start that fails has changed nothing: the machine is set up when nothing but writing rules is left to do.
    ready({ awaitNode, setUpMachine }) {
      const promise = awaitNode.ready.then(setUpMachine);
      const failure = promise.then(() => new Promise<never>(() => {}));
      // The caller that runs the proxy handles it from then on.
      failure.catch(() => {});
      return { promise, failure };
    },
    running: runningParts,
    ...replacements,
  });
}

/** For parts of which those of the families are made. */
function targetsOf({ trafficWatchers, loops }: ProxyParts): CountingTargets {
  return {
    traffic: trafficWatchers,
    recompute: (family, service) => loops.note([family], (pending) => pending.serviceChanged(service)),
  };
}

/**
 * Everything that runs in a proxy, in the order in which it starts. Servers come first, so that probes are answered from
 * the start. The source comes after the sync loops, which begin when its first lists are complete, the Node is known, and the
 * machine is set up.
 */
function runningParts(proxy: ProxyParts): readonly Part[] {
  const { mode, localAddresses, healthServer, metricsServer, scrapeServer, trafficWatchers } = proxy;
  const { conntrack, ejection, balancing, eventRecorder, awaitNode, metrics, served, localhostRelay } = proxy;
  const { forwardingObstacles: obstacles, checkForwarding } = proxy;
  const loops = served.map(({ loop }) => loop);
  const healthChecks = served.flatMap((family) => family.healthChecks ?? []);
  const localhostNodePorts = served.flatMap((family) => family.localhostNodePorts ?? []);
  const reconcilers = served.flatMap((family) => family.conntrack);
  const resets = served.flatMap((family) => family.resets);

  /** With bindAddressHardFail a server that cannot listen ends the program, with an event. */
  const listen = async (server: { start(): Promise<void> }, failure: string): Promise<void> => {
    try {
      await server.start();
    } catch (error) {
      eventRecorder.record(nodeEvent(proxy.commandLine.nodeName, 'Warning', failure, errorMessage(error)));
      throw error;
    }
  };

  const parts: readonly (Part | undefined | false)[] = [
    { name: 'proxy mode', stop: () => mode.close() },
    addressesPart(proxy),
    healthServer && {
      name: 'healthz server',
      start: () => listen(healthServer, 'FailedToStartProxierHealthcheck'),
      stop: () => healthServer.stop(),
    },
    (metricsServer ?? scrapeServer ?? ejection ?? balancing) && {
      name: 'traffic',
      start: () => proxy.trafficMetrics?.start(),
      stop: () => trafficWatchers.stop(),
    },
    ejection && { name: 'ejection', stop: () => ejection.stop() },
    balancing && { name: 'balancing', stop: () => balancing.stop() },
    (metricsServer ?? scrapeServer) && {
      name: 'metrics',
      start: () => {
        metrics.start();
        metrics.onScrape(scrapeGauges(proxy));
      },
    },
    metricsServer && {
      name: 'metrics server',
      start: () => listen(metricsServer, 'FailedToStartMetricServer'),
      stop: () => metricsServer.stop(),
    },
    scrapeServer && {
      name: 'scrape server',
      start: () => listen(scrapeServer, 'FailedToStartMetricServer'),
      stop: () => scrapeServer.stop(),
    },
    healthChecks.length > 0 && { name: 'service health checks', stop: () => stopAll(healthChecks) },
    localhostRelay && {
      name: 'node ports on localhost',
      start: () => raiseOpenFileLimit(proxy.logger.child({ caller: 'localhost-relay' })),
      stop: async () => {
        await stopAll(localhostNodePorts);
        await localhostRelay.close();
      },
    },
    conntrack && { name: 'conntrack', stop: () => conntrack.close() },
    conntrack && { name: 'conntrack reconcilers', stop: () => stopAll(reconcilers) },
    resets.length > 0 && { name: 'resets of dead connections', stop: () => stopAll(resets) },
    obstacles && {
      name: 'packet forwarding',
      start: () => void Promise.all(loops.map((loop) => loop.firstAttempt)).then(() => obstacles.start()),
      stop: () => obstacles.stop(),
    },
    checkForwarding && {
      name: 'checks of forwarding',
      start: () => checkForwarding.start(),
      stop: () => checkForwarding.stop(),
    },
    {
      name: 'sync loops',
      start: () => {
        proxy.ready.promise.then(
          () => {
            for (const loop of loops) loop.initialized();
          },
          // The proxy fails with it.
          () => {},
        );
      },
      stop: () => stopAll(loops),
    },
    sourcePart(proxy),
    {
      name: 'verdicts on Services',
      stop: () => {
        proxy.serviceVerdicts.stop();
        proxy.lastingProblems.stop();
      },
    },
    { name: 'event recorder', stop: () => eventRecorder.stop?.() },
    { name: 'wait for the Node', stop: () => awaitNode.stop() },
    {
      name: 'changes of addresses',
      start: () =>
        localAddresses.follow?.(() => proxy.loops.note(IP_FAMILIES, (pending) => pending.nodeChanged())),
    },
  ];
  return parts.filter((part) => part !== undefined && part !== false);
}

/** Of all families at the same time; waits for each, also after one has failed. */
async function stopAll(parts: readonly { stop(): Promise<void> }[]): Promise<void> {
  const outcomes = await Promise.allSettled(parts.map((part) => part.stop()));
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
