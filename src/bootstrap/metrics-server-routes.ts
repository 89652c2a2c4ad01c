import type { ResolutionContext } from 'inversify';
import { configurationRoutes } from '../adapters/debug/configuration-routes.js';
import { logFlagRoutes } from '../adapters/debug/log-flag-routes.js';
import { pingRoutes } from '../adapters/debug/ping-routes.js';
import { serviceRoutes } from '../adapters/debug/service-routes.js';
import { zpageRoutes } from '../adapters/debug/zpage-routes.js';
import type { Routes } from '../adapters/http/router.js';
import { HealthSlis } from '../adapters/metrics/health-slis.js';
import { metricsRoutes } from '../adapters/metrics/metrics-routes.js';
import { PinoLogger } from '../adapters/process/pino-logger.js';
import { Explain } from '../application/use-cases/explain.js';
import { effectiveConfiguration } from './configuration/effective-configuration.js';
import { flagValues } from './configuration/flags/flags.js';
import { modeInForce } from './configuration/proxy-configuration.js';
import {
  CLOCK,
  CLUSTER_EVENTS,
  CLUSTER_STATE,
  COMMAND_LINE,
  LIVE_CONFIGURATION,
  LOGGER,
  METRICS,
  OBJECT_REPORTS,
  SERVICE_HEALTH_CHECKS,
  SERVICE_STATUSES,
  SYNC_HISTORY,
  SYNC_LOOPS,
} from './identifiers.js';

/** Everything that the metrics server answers, but profiles (docs/spec/server.md §9). */
export function metricsServerRoutes(context: ResolutionContext): Routes {
  const commandLine = context.get(COMMAND_LINE);
  const { configuration, version } = commandLine;
  const { ComponentFlagz, ComponentStatusz } = configuration.gates;
  const live = context.get(LIVE_CONFIGURATION);
  const clock = context.get(CLOCK);
  const slis = new HealthSlis();
  const listed = {
    ...metricsRoutes(context.get(METRICS), slis),
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
    ...serviceRoutes(explain(context), syncState(context)),
    ...(configuration.enableProfiling && logRoutes(context)),
  };
}

function explain(context: ResolutionContext): Explain {
  return new Explain(
    context.get(CLUSTER_STATE),
    context.get(SYNC_LOOPS),
    context.get(SERVICE_STATUSES),
    context.get(OBJECT_REPORTS),
    context.get(SYNC_HISTORY),
    context.get(SERVICE_HEALTH_CHECKS),
  );
}

function syncState(context: ResolutionContext) {
  const loops = context.get(SYNC_LOOPS);
  const events = context.get(CLUSTER_EVENTS);
  return () => ({ idle: loops.every((loop) => loop.settled), appliedEvents: events.eventCount });
}

/** An embedder's own log has no verbosity to set. */
function logRoutes(context: ResolutionContext): Routes {
  const logger = context.get(LOGGER);
  return logger instanceof PinoLogger ? logFlagRoutes((verbosity) => logger.adjust({ verbosity })) : {};
}
