import { HealthServer } from '../../adapters/health/health-server.js';
import { ServiceHealthServer } from '../../adapters/health/service-health-server.js';
import { ApiServiceLookup } from '../../adapters/kubernetes/api-service-lookup.js';
import { MetricsServer } from '../../adapters/metrics/metrics-server.js';
import { ScrapeServer } from '../../adapters/metrics/scrape-server.js';
import { splitHostPort } from '../../domain/net/listen-address.js';
import type { Module } from '../parts/proxy-parts.js';
import { metricsRoutes } from './metrics-routes.js';
import { withPage } from './with-page.js';

/** The servers that answer for the proxy. */
export const serverModule = {
  metricsRoutes,
  /** The API server leaves out Services that no proxy needs. */
  serviceLookup: ({ commandLine, apiClient }) =>
    commandLine.manifests.length > 0 ? undefined : new ApiServiceLookup(apiClient),
  healthCheckListener: ({ commandLine, logger, clock }) =>
    commandLine.once ? undefined : new ServiceHealthServer(logger.child({ caller: 'service-health' }), clock),
  healthServer({ commandLine, health, readiness, metrics, logger, clock }) {
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
  metricsServer({ commandLine, metricsRoutes: routes, logger, clock }) {
    const { metricsBindAddress, bindAddressHardFail: hardFail, enableProfiling } = commandLine.configuration;
    if (metricsBindAddress === '') return undefined;
    return new MetricsServer({
      routes: withPage(routes, commandLine),
      profiling: enableProfiling,
      logger: logger.child({ caller: 'metrics-server' }),
      clock,
      address: bindAddress(metricsBindAddress),
      hardFail,
    });
  },
  /** For a monitoring system on another machine. */
  scrapeServer({ commandLine, metricsRoutes: routes, health, readiness, metrics, logger, clock }) {
    const { scrapeBindAddress, configuration } = commandLine;
    if (scrapeBindAddress === '') return undefined;
    return new ScrapeServer({
      routes,
      health,
      readiness,
      metrics,
      clock,
      logger: logger.child({ caller: 'scrape-server' }),
      address: bindAddress(scrapeBindAddress),
      hardFail: configuration.bindAddressHardFail,
    });
  },
} satisfies Module;

/** Validation has made sure that the text is `ip:port`. */
function bindAddress(text: string): { readonly host: string; readonly port: number } {
  const { host, port } = splitHostPort(text)!;
  return { host, port: Number(port) };
}
