import { configurationRoutes } from '../../adapters/debug/configuration-routes.js';
import { differenceRoutes } from '../../adapters/debug/difference-routes.js';
import { logFlagRoutes } from '../../adapters/debug/log-flag-routes.js';
import { pingRoutes } from '../../adapters/debug/ping-routes.js';
import { trafficRoutes } from '../../adapters/debug/traffic-routes.js';
import { zpageRoutes } from '../../adapters/debug/zpage-routes.js';
import type { Routes } from '../../adapters/http/router.js';
import { HealthSlis } from '../../adapters/metrics/health-slis.js';
import { metricsRoutes as routesOfMetrics } from '../../adapters/metrics/metrics-routes.js';
import { PinoLogger } from '../../adapters/process/pino-logger.js';
import { Diff } from '../../application/difference/diff.js';
import type { Logger } from '../../application/ports/logger.js';
import { effectiveConfiguration } from '../configuration/effective-configuration.js';
import { flagValues } from '../configuration/flags/flags.js';
import { modeInForce } from '../configuration/proxy-configuration.js';
import { localhostLookup } from '../family/served-family.js';
import type { ProxyParts } from '../parts/proxy-parts.js';
import { reportRoutes } from './report-routes.js';
import { traceRoutes } from './trace-routes.js';
import { explainAddress } from './tracing.js';

/** Everything that the metrics server answers, except profiles (docs/spec/server.md §9). */
export function metricsRoutes(parts: ProxyParts): Routes {
  const { commandLine, live, clock } = parts;
  const { configuration, version } = commandLine;
  const { ComponentFlagz, ComponentStatusz } = configuration.gates;
  const mode = modeInForce(configuration);
  const loops = parts.served.map(({ loop }) => loop);
  const slis = new HealthSlis();
  const listed = {
    ...routesOfMetrics(parts.metrics, slis),
    ...pingRoutes(slis),
    ...configurationRoutes({
      proxyMode: mode,
      configuration: () => effectiveConfiguration(live.current),
    }),
    ...zpageRoutes({ flags: ComponentFlagz ? () => flagValues(commandLine) : undefined }, clock),
  };
  const status = { startTime: clock.now(), version, paths: Object.keys(listed) };
  return {
    ...listed,
    ...zpageRoutes({ status: ComponentStatusz ? status : undefined }, clock),
    ...reportRoutes(
      parts,
      explainAddress(parts, loops, parts.ejection?.asideTimes, localhostLookup(parts.served)),
    ),
    ...traceRoutes(parts),
    ...trafficRoutes(parts.trafficWatchers),
    ...differenceRoutes(new Diff(mode, loops)),
    ...(configuration.enableProfiling && logRoutes(parts.logger)),
  };
}

/** An embedder's own log has no verbosity to set. */
function logRoutes(logger: Logger): Routes {
  return logger instanceof PinoLogger ? logFlagRoutes((verbosity) => logger.adjust({ verbosity })) : {};
}
