import { HealthServer } from '../../adapters/health/health-server.js';
import { ServiceHealthServer } from '../../adapters/health/service-health-server.js';
import { MetricsServer } from '../../adapters/metrics/metrics-server.js';
import { ScrapeServer } from '../../adapters/metrics/scrape-server.js';
import {
  showIgnoredObjects,
  showServicePorts,
  showSources,
  showTraffic,
} from '../../adapters/metrics/scrapes.js';
import { PrometheusMetrics } from '../../adapters/metrics/prometheus-metrics.js';
import { modeInForce } from '../configuration/proxy-configuration.js';
import { featureGateStates } from '../configuration/schema/feature-gates.js';
import { splitHostPort } from '../../domain/net/listen-address.js';
import {
  CLOCK,
  CLUSTER_SOURCE,
  COMMAND_LINE,
  HEALTH_CHECK_LISTENER,
  HEALTH_SERVER,
  LIVE_CONFIGURATION,
  LOGGER,
  METRICS,
  METRICS_ROUTES,
  METRICS_SCRAPE,
  METRICS_SERVER,
  OBJECT_REPORTS,
  PACKET_COUNTERS,
  PROXY_HEALTH,
  READINESS,
  SCRAPE_SERVER,
  SERVED_FAMILIES,
  SERVICE_STATUSES,
  SYNC_HISTORY,
  TRAFFIC_METRICS,
} from '../identifiers.js';
import { provide, provideValue, type Module } from '../injection/provider.js';
import { explainAddress } from './explain-address.js';
import { differenceRoutes } from './difference-routes.js';
import { metricsRoutes } from './metrics-routes.js';
import { traceRoutes } from './trace-routes.js';
import { reportRoutes } from './report-routes.js';
import { withPage } from './with-page.js';

const metrics = provide(
  METRICS,
  { commandLine: COMMAND_LINE, packetCounters: PACKET_COUNTERS, clock: CLOCK },
  ({ commandLine, packetCounters, clock }) => {
    const { configuration, version } = commandLine;
    return new PrometheusMetrics({
      clock,
      mode: modeInForce(configuration),
      version,
      features: featureGateStates(configuration.gates),
      packetCounters,
    });
  },
);

/** Gauges that are looked up each time the metrics are read. */
const metricsScrape = provide(
  METRICS_SCRAPE,
  {
    families: SERVED_FAMILIES,
    statuses: SERVICE_STATUSES,
    reports: OBJECT_REPORTS,
    history: SYNC_HISTORY,
    source: CLUSTER_SOURCE,
    live: LIVE_CONFIGURATION,
    traffic: TRAFFIC_METRICS,
    clock: CLOCK,
  },
  ({ families, statuses, reports, history, source, live, traffic, clock }) =>
    (own) => {
      for (const { loop } of families) {
        showServicePorts(own, loop, statuses);
        own.set('synced', { ip_family: loop.family }, history.of(loop.family).lastSuccess ? 1 : 0);
      }
      showIgnoredObjects(own, reports.ignoredByKind);
      showSources(own, source.status(), clock.now());
      if (traffic) showTraffic(own, traffic.values());
      own.set('configurationRefused', {}, live.problem === undefined ? 0 : 1);
    },
);

const healthServer = provide(
  HEALTH_SERVER,
  {
    commandLine: COMMAND_LINE,
    health: PROXY_HEALTH,
    readiness: READINESS,
    metrics: METRICS,
    logger: LOGGER,
    clock: CLOCK,
  },
  ({ commandLine, health, readiness, metrics, logger, clock }) => {
    const { healthzBindAddress, bindAddressHardFail: hardFail } = commandLine.configuration;
    if (healthzBindAddress === '') return undefined;
    return new HealthServer({
      health,
      readiness,
      metrics,
      logger: logger.child({ caller: 'healthz-server' }),
      clock,
      address: bindAddress(healthzBindAddress),
      hardFail,
    });
  },
);

const metricsServer = provide(
  METRICS_SERVER,
  { commandLine: COMMAND_LINE, routes: METRICS_ROUTES, logger: LOGGER, clock: CLOCK },
  ({ commandLine, routes, logger, clock }) => {
    const { metricsBindAddress, bindAddressHardFail, enableProfiling } = commandLine.configuration;
    if (metricsBindAddress === '') return undefined;
    return new MetricsServer({
      routes: withPage(routes, commandLine),
      profiling: enableProfiling,
      logger: logger.child({ caller: 'metrics-server' }),
      clock,
      address: bindAddress(metricsBindAddress),
      hardFail: bindAddressHardFail,
    });
  },
);

/** For a monitoring system on another machine. */
const scrapeServer = provide(
  SCRAPE_SERVER,
  {
    commandLine: COMMAND_LINE,
    routes: METRICS_ROUTES,
    health: PROXY_HEALTH,
    readiness: READINESS,
    metrics: METRICS,
    logger: LOGGER,
    clock: CLOCK,
  },
  ({ commandLine, logger, ...served }) => {
    const { scrapeBindAddress, configuration } = commandLine;
    if (scrapeBindAddress === undefined) return undefined;
    return new ScrapeServer({
      ...served,
      logger: logger.child({ caller: 'scrape-server' }),
      address: bindAddress(scrapeBindAddress),
      hardFail: configuration.bindAddressHardFail,
    });
  },
);

/** What reports to others how the proxy is: metrics, and the servers that answer for it. */
export const serverModule: Module = [
  provideValue(PACKET_COUNTERS, undefined),
  metrics,
  metricsScrape,
  explainAddress,
  traceRoutes,
  reportRoutes,
  differenceRoutes,
  metricsRoutes,
  provide(
    HEALTH_CHECK_LISTENER,
    { commandLine: COMMAND_LINE, logger: LOGGER, clock: CLOCK },
    ({ commandLine, logger, clock }) =>
      commandLine.once
        ? undefined
        : new ServiceHealthServer(logger.child({ caller: 'service-health' }), clock),
  ),
  healthServer,
  metricsServer,
  scrapeServer,
];

/** Validation has made sure that the text is `ip:port`. */
function bindAddress(text: string): { readonly host: string; readonly port: number } {
  const { host, port } = splitHostPort(text)!;
  return { host, port: Number(port) };
}
