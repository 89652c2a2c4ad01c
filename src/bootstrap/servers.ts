import { LocalhostRelay } from '../adapters/endpoint-connections.js';
import { HealthServer } from '../adapters/health/health-server.js';
import { ServiceHealthServer } from '../adapters/health/service-health-server.js';
import { componentRoutes } from '../adapters/http/component-routes.js';
import {
  byOwnName,
  overLoopback,
  respond,
  route,
  TEXT_TYPE,
  type Handler,
  type Routes,
} from '../adapters/http/router.js';
import { ApiServiceLookup } from '../adapters/kubernetes/kubernetes-source.js';
import { HealthSlis } from '../adapters/metrics/component-metrics.js';
import {
  metricsRoutes as routesOfMetrics,
  MetricsServer,
  ScrapeServer,
} from '../adapters/metrics/metrics-server.js';
import type { Scrape } from '../adapters/metrics/prometheus-metrics.js';
import {
  showEjections,
  showForwardingChecks,
  showLeastConnections,
  showIgnoredObjects,
  showNodeState,
  showServicePorts,
  showServices,
  showSlots,
  showSources,
  showTerminating,
  showTraffic,
} from '../adapters/metrics/scrapes.js';
import { PinoLogger } from '../adapters/process/pino-logger.js';
import type { Logger } from '../application/ports/logger.js';
import { splitHostPort } from '../domain/net/listen-address.js';
import type { CommandLine } from './configuration/command-line.js';
import { effectiveConfiguration } from './configuration/configuration-file.js';
import { flagValues } from './configuration/flags.js';
import { RELEASES } from './configuration/releases.js';
import { isMetricsOnLoopback, modeInForce, servesPage } from './configuration/proxy-configuration.js';
import { loadDebugRoutes } from './diagnostics.js';
import type { Providers, ProxyParts } from './parts.js';
import { ownsLoopbackNodePorts } from './this-node.js';

const OPENING = 'query it on the node or through kubectl port-forward, or open it with --debug-routes=true';

/** How the servers of the proxy are made. */
export function serverProviders(commandLine: CommandLine, loggerOf: (caller: string) => Logger) {
  const { configuration, nodeName, manifests, once, scrapeBindAddress } = commandLine;
  const { healthzBindAddress, metricsBindAddress, bindAddressHardFail: hardFail } = configuration;
  /** @param bindAddress `ip:port`, as validation has made sure */
  const listening = ({ clock }: ProxyParts, bindAddress: string, caller: string) => {
    const { host, port } = splitHostPort(bindAddress)!;
    return { address: { host, port: Number(port) }, hardFail, logger: loggerOf(caller), clock };
  };
  return {
    metricsRoutes,
    // The API server leaves out Services that no proxy needs.
    serviceLookup: ({ apiClient }) => (manifests.length > 0 ? undefined : new ApiServiceLookup(apiClient)),
    healthCheckListener: ({ clock }) =>
      once ? undefined : new ServiceHealthServer(loggerOf('service-health'), clock),
    localhostRelay: ({ clock }) =>
      !once && ownsLoopbackNodePorts(configuration)
        ? new LocalhostRelay(clock, loggerOf('localhost-relay'))
        : undefined,
    healthServer(parts) {
      if (healthzBindAddress === '') return undefined;
      const { health, readiness, metrics } = parts;
      const options = listening(parts, healthzBindAddress, 'healthz-server');
      return new HealthServer({ health, readiness, metrics, ...options });
    },
    metricsServer(parts) {
      if (metricsBindAddress === '') return undefined;
      const own = diagnosticRoutes(parts, async (all, startTime) =>
        (await loadDebugRoutes()).debugRoutes(all, startTime),
      );
      return new MetricsServer({
        routes: { ...parts.metricsRoutes, ...own },
        profiling: configuration.enableProfiling,
        // Otherwise a web site could read metrics and the configuration in a browser of this machine, by DNS rebinding.
        ...(isMetricsOnLoopback(configuration) && { names: [nodeName] }),
        ...listening(parts, metricsBindAddress, 'metrics-server'),
      });
    },
    // For a monitoring system on another machine.
    scrapeServer(parts) {
      if (scrapeBindAddress === '') return undefined;
      const { metricsRoutes: routes, health, readiness, metrics } = parts;
      const options = listening(parts, scrapeBindAddress, 'scrape-server');
      return new ScrapeServer({ routes, health, readiness, metrics, ...options });
    },
  } satisfies Partial<Providers<ProxyParts>>;
}

/**
 * The routes of the diagnostics, which kube-proxy does not have. They report what the cluster has, to browsers, too: so only over
 * loopback unless `debugRoutes` opens them, and only to clients that call this node by its address or name. The diagnostics are
 * loaded when a client that may have it requests the first of them.
 * @param load makes them of the parts of the proxy and the time of its start, in milliseconds since the epoch
 */
export function diagnosticRoutes<Parts extends Pick<ProxyParts, 'commandLine' | 'logger' | 'clock'>>(
  parts: Parts,
  load: (parts: Parts, startTime: number) => Promise<Routes>,
): Routes {
  const { commandLine, logger, clock } = parts;
  const { configuration, nodeName } = commandLine;
  const startTime = clock.now();
  let loaded: Promise<ReturnType<typeof route>> | undefined;
  const loading: Handler = async ({ request }, response) => {
    loaded ??= load(parts, startTime).then((routes) => route(routes, logger));
    loaded.catch(() => (loaded = undefined));
    (await loaded)(request, response);
  };
  const named = byOwnName(
    { '/debug/': loading, ...(servesPage(configuration) && { '/': rootOnly(loading), '/page/': loading }) },
    [nodeName],
  );
  return configuration.debugRoutes ? named : overLoopback(named, OPENING);
}

/** Gauges that are looked up each time the metrics are read. */
export function scrapeGauges(parts: ProxyParts): Scrape {
  const { mode, served, statuses, reports, syncHistory, source, live, nodeState } = parts;
  const { trafficMetrics, ejection, balancing, families, clock } = parts;
  return (own) => {
    for (const { loop } of served) {
      showServicePorts(own, loop, statuses);
      if (mode.name === 'nftables') showSlots(own, loop.family, loop.table.slots);
      own.set('synced', { ip_family: loop.family }, syncHistory.of(loop.family).lastSuccess ? 1 : 0);
    }
    showServices(own, parts.serviceVerdicts.counts());
    showNodeState(own, nodeState.report().state);
    showIgnoredObjects(own, reports.ignoredByKind);
    showSources(own, source.status(), clock.now());
    if (parts.checkForwarding) showForwardingChecks(own, parts.checkForwarding.states);
    if (ejection) showEjections(own, ejection, families);
    if (balancing) showLeastConnections(own, balancing.endpoints());
    if (trafficMetrics) showTraffic(own, trafficMetrics.values());
    own.set('configurationRejected', {}, live.problem === undefined ? 0 : 1);
    return showTerminating(own, parts);
  };
}

/** Everything that kube-proxy's metrics server answers, too, except profiles (docs/internals/spec/server.md §9). */
function metricsRoutes({ commandLine, live, metrics, logger, clock }: ProxyParts): Routes {
  const { configuration, version } = commandLine;
  const { gates, enableProfiling } = configuration;
  const checks = new HealthSlis();
  const ofMetrics = routesOfMetrics(metrics, checks);
  return {
    ...ofMetrics,
    ...componentRoutes({
      version,
      proxyMode: modeInForce(configuration),
      clock,
      configuration: () => effectiveConfiguration(live.current),
      checks,
      flagsNote: RELEASES[configuration.kubernetesVersion].flagzNote,
      flags: gates.ComponentFlagz ? () => flagValues(commandLine) : undefined,
      otherPaths: gates.ComponentStatusz ? Object.keys(ofMetrics) : undefined,
      // An embedder's own log has no verbosity to set.
      setVerbosity:
        enableProfiling && logger instanceof PinoLogger
          ? (verbosity) => logger.adjust({ verbosity })
          : undefined,
    }),
  };
}

/** The router has `/` handle everything that nothing else handles. */
function rootOnly(handler: Handler): Handler {
  return (query, response) =>
    query.path === '/' ? handler(query, response) : respond(response, 404, TEXT_TYPE, '404 page not found\n');
}
