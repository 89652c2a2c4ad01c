import { ContainerModule, type ResolutionContext } from 'inversify';
import { HealthServer } from '../../adapters/health/health-server.js';
import { ServiceHealthServer } from '../../adapters/health/service-health-server.js';
import { MetricsServer } from '../../adapters/metrics/metrics-server.js';
import { showServicePorts, showSources } from '../../adapters/metrics/scrapes.js';
import { PrometheusMetrics } from '../../adapters/metrics/prometheus-metrics.js';
import { ProxyHealth } from '../../application/health/proxy-health.js';
import { Readiness } from '../../application/health/readiness.js';
import { ServiceHealthChecks } from '../../application/health/service-health-checks.js';
import { featureGateStates } from '../configuration/schema/feature-gates.js';
import { splitHostPort } from '../configuration/types/listen-address.js';
import { modeInForce, modeSettings } from '../configuration/proxy-configuration.js';
import {
  CLOCK,
  CLUSTER_EVENTS,
  CLUSTER_SOURCE,
  COMMAND_LINE,
  EVENT_RECORDER,
  FAMILIES,
  HEALTH_SERVER,
  LIVE_CONFIGURATION,
  LOGGER,
  METRICS,
  METRICS_SERVER,
  MODE,
  NODE_CONTEXTS,
  PROXY_HEALTH,
  READINESS,
  SERVICE_HEALTH_CHECKS,
  SERVICE_STATUSES,
  SYNC_LOOPS,
} from '../identifiers.js';
import { metricsServerRoutes } from '../metrics-server-routes.js';

/** What tells others how the proxy is: health, metrics, and the servers that answer for them. */
export const serverModule = new ContainerModule(({ bind }) => {
  bind(PROXY_HEALTH)
    .toDynamicValue((context) => {
      const { configuration } = context.get(COMMAND_LINE);
      const { syncPeriod } = modeSettings(configuration, modeInForce(configuration));
      const source = context.get(CLUSTER_SOURCE);
      return new ProxyHealth(context.get(CLOCK), 2 * syncPeriod, () => source.status());
    })
    .inSingletonScope();
  bind(READINESS)
    .toDynamicValue((context) => {
      const events = context.get(CLUSTER_EVENTS);
      const loops = context.get(SYNC_LOOPS);
      return new Readiness(
        context.get(PROXY_HEALTH),
        context.get(SERVICE_STATUSES),
        () => events.missing,
        () => [...new Set(loops.flatMap(({ keptFor }) => keptFor))],
        context.get(CLOCK),
      );
    })
    .inSingletonScope();
  bind(SERVICE_HEALTH_CHECKS)
    .toDynamicValue((context) => {
      const { nodeName, once, configuration } = context.get(COMMAND_LINE);
      if (once) return [];
      const health = context.get(PROXY_HEALTH);
      const nodes = context.get(NODE_CONTEXTS);
      const listener = new ServiceHealthServer(context.get(LOGGER).child({ caller: 'service-health' }));
      return context.get(FAMILIES).map(
        (family) =>
          new ServiceHealthChecks({
            family,
            nodeName,
            listener,
            addresses: () => nodes.healthCheckAddresses(family),
            // Without a health server nobody asked to be told about the proxy (docs/spec/server.md §8.4).
            proxyHealthy: () => configuration.healthzBindAddress === '' || health.verdict().healthy,
            events: context.get(EVENT_RECORDER),
            clock: context.get(CLOCK),
            logger: context.get(LOGGER).child({ caller: 'service-health' }),
          }),
      );
    })
    .inSingletonScope();
  bind(METRICS)
    .toDynamicValue((context) => {
      const { configuration, version } = context.get(COMMAND_LINE);
      return new PrometheusMetrics({
        clock: context.get(CLOCK),
        mode: modeInForce(configuration),
        version,
        features: featureGateStates(configuration.gates),
        packetCounters: context.get(MODE, { optional: true })?.packetCounters,
      });
    })
    .inSingletonScope();
  bind(HEALTH_SERVER)
    .toDynamicValue((context) => {
      const { healthzBindAddress, bindAddressHardFail: hardFail } = context.get(COMMAND_LINE).configuration;
      if (healthzBindAddress === '') return undefined;
      return new HealthServer({
        health: context.get(PROXY_HEALTH),
        readiness: context.get(READINESS),
        metrics: context.get(METRICS),
        logger: context.get(LOGGER).child({ caller: 'healthz-server' }),
        clock: context.get(CLOCK),
        address: bindAddress(healthzBindAddress),
        hardFail,
      });
    })
    .inSingletonScope();
  bind(METRICS_SERVER)
    .toDynamicValue((context) => {
      const { configuration } = context.get(COMMAND_LINE);
      const { metricsBindAddress, bindAddressHardFail: hardFail, enableProfiling } = configuration;
      if (metricsBindAddress === '') return undefined;
      scrapeWhatRuns(context);
      return new MetricsServer({
        routes: metricsServerRoutes(context),
        profiling: enableProfiling,
        logger: context.get(LOGGER).child({ caller: 'metrics-server' }),
        clock: context.get(CLOCK),
        address: bindAddress(metricsBindAddress),
        hardFail,
      });
    })
    .inSingletonScope();
});

/** What is looked up whenever somebody asks for the metrics. */
function scrapeWhatRuns(context: ResolutionContext): void {
  const loops = context.get(SYNC_LOOPS);
  const statuses = context.get(SERVICE_STATUSES);
  const source = context.get(CLUSTER_SOURCE);
  const clock = context.get(CLOCK);
  const live = context.get(LIVE_CONFIGURATION);
  context.get(METRICS).onScrape((own) => {
    for (const loop of loops) showServicePorts(own, loop, statuses);
    showSources(own, source.status(), clock.now());
    own.set('configurationRefused', {}, live.problem === undefined ? 0 : 1);
  });
}

/** Validation has seen to it that the text is `ip:port`. */
function bindAddress(text: string): { readonly host: string; readonly port: number } {
  const { host, port } = splitHostPort(text)!;
  return { host, port: Number(port) };
}
