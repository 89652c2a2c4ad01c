import { configurationRoutes } from '../../adapters/zpages/configuration-routes.js';
import { logFlagRoutes } from '../../adapters/zpages/log-flag-routes.js';
import { pingRoutes } from '../../adapters/zpages/ping-routes.js';
import { zpageRoutes } from '../../adapters/zpages/zpage-routes.js';
import type { Routes } from '../../adapters/http/router.js';
import { HealthSlis } from '../../adapters/metrics/component-metrics.js';
import { metricsRoutes as routesOfMetrics } from '../../adapters/metrics/metrics-server.js';
import { PinoLogger } from '../../adapters/process/pino-logger.js';
import type { Logger } from '../../application/ports/logger.js';
import { effectiveConfiguration } from '../configuration/effective-configuration.js';
import { flagValues } from '../configuration/flags/flags.js';
import { modeInForce } from '../configuration/proxy-configuration.js';
import type { ProxyParts } from '../parts/proxy-parts.js';

/** Everything that kube-proxy's metrics server answers, too, except profiles (docs/spec/server.md §9). */
export function metricsRoutes(parts: ProxyParts): Routes {
  const { commandLine, live, clock } = parts;
  const { configuration, version } = commandLine;
  const { ComponentFlagz, ComponentStatusz } = configuration.gates;
  const slis = new HealthSlis();
  const listed = {
    ...routesOfMetrics(parts.metrics, slis),
    ...pingRoutes(slis),
    ...configurationRoutes({
      proxyMode: modeInForce(configuration),
      configuration: () => effectiveConfiguration(live.current),
    }),
    ...zpageRoutes({ flags: ComponentFlagz ? () => flagValues(commandLine) : undefined }, clock),
  };
  const status = { startTime: clock.now(), version, paths: Object.keys(listed) };
  return {
    ...listed,
    ...zpageRoutes({ status: ComponentStatusz ? status : undefined }, clock),
    ...(configuration.enableProfiling && logRoutes(parts.logger)),
  };
}

/** An embedder's own log has no verbosity to set. */
function logRoutes(logger: Logger): Routes {
  return logger instanceof PinoLogger ? logFlagRoutes((verbosity) => logger.adjust({ verbosity })) : {};
}
