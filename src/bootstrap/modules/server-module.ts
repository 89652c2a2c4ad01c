import { HealthServer } from '../../adapters/health/health-server.js';
import { ServiceHealthServer } from '../../adapters/health/service-health-server.js';
import { ApiServiceLookup } from '../../adapters/kubernetes/kubernetes-source.js';
import { LocalhostRelay } from '../../adapters/endpoint-connections.js';
import { MetricsServer, ScrapeServer } from '../../adapters/metrics/metrics-server.js';
import { splitHostPort } from '../../domain/net/listen-address.js';
import { isMetricsOnLoopback } from '../configuration/page-setting.js';
import { loadDebugRoutes } from '../diagnostics.js';
import { ownsLoopbackNodePorts } from '../node/node-settings.js';
import type { Module, ProxyParts } from '../parts/proxy-parts.js';
import { metricsRoutes } from './metrics-routes.js';
import { diagnosticRoutes } from './diagnostic-routes.js';

/** The servers that answer for the proxy. */
export const serverModule = {
  metricsRoutes,
  /** The API server leaves out Services that no proxy needs. */
  serviceLookup: ({ commandLine, apiClient }) =>
    commandLine.manifests.length > 0 ? undefined : new ApiServiceLookup(apiClient),
  healthCheckListener: ({ commandLine, logger, clock }) =>
    commandLine.once ? undefined : new ServiceHealthServer(logger.child({ caller: 'service-health' }), clock),
  localhostRelay: ({ commandLine, logger, clock }) =>
    !commandLine.once && ownsLoopbackNodePorts(commandLine.configuration)
      ? new LocalhostRelay(clock, logger.child({ caller: 'localhost-relay' }))
      : undefined,
  healthServer(parts) {
    const { healthzBindAddress } = parts.commandLine.configuration;
    if (healthzBindAddress === '') return undefined;
    const { health, readiness, metrics } = parts;
    return new HealthServer({
      health,
      readiness,
      metrics,
      ...listening(parts, healthzBindAddress, 'healthz-server'),
    });
  },
  metricsServer(parts) {
    const { configuration, nodeName } = parts.commandLine;
    const { metricsBindAddress, enableProfiling: profiling } = configuration;
    if (metricsBindAddress === '') return undefined;
    const own = diagnosticRoutes(parts, async (all, startTime) =>
      (await loadDebugRoutes()).debugRoutes(all, startTime),
    );
    const routes = { ...parts.metricsRoutes, ...own };
    return new MetricsServer({
      routes,
      profiling,
      // Otherwise a web site could read metrics and the configuration in a browser of this machine, by DNS rebinding.
      ...(isMetricsOnLoopback(configuration) && { names: [nodeName] }),
      ...listening(parts, metricsBindAddress, 'metrics-server'),
    });
  },
  /** For a monitoring system on another machine. */
  scrapeServer(parts) {
    const { scrapeBindAddress } = parts.commandLine;
    if (scrapeBindAddress === '') return undefined;
    const { metricsRoutes: routes, health, readiness, metrics } = parts;
    const subject = { health, readiness, metrics };
    return new ScrapeServer({ routes, ...subject, ...listening(parts, scrapeBindAddress, 'scrape-server') });
  },
} satisfies Module;

/** @param address `ip:port`, as validation has made sure */
function listening({ commandLine, logger, clock }: ProxyParts, address: string, caller: string) {
  const { host, port } = splitHostPort(address)!;
  return {
    address: { host, port: Number(port) },
    hardFail: commandLine.configuration.bindAddressHardFail,
    logger: logger.child({ caller }),
    clock,
  };
}
