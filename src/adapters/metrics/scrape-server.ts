import { healthRoutes, type HealthSubject } from '../health/health-routes.js';
import { HttpListener, type ListenOptions } from '../http/http-listener.js';
import { readOnly } from '../http/restrictions.js';
import { route, type Routes } from '../http/router.js';

/** The address is `--scrape-bind-address`. */
export interface ScrapeServerOptions extends ListenOptions, HealthSubject {
  /** Those of the metrics server; only the metrics among them are served. */
  readonly routes: Routes;
}

/** What is served of the metrics server's routes. */
const METRICS_PATHS = ['/metrics', '/metrics/slis'];

/**
 * Serves what may be read from elsewhere, for a monitoring system: metrics and health, to be read only. Nothing here names a
 * Service, an address of a client or a setting, and nothing can be changed.
 */
export class ScrapeServer extends HttpListener {
  constructor(options: ScrapeServerOptions) {
    const served = { ...only(METRICS_PATHS, options.routes), ...healthRoutes(options) };
    super({ ...options, name: 'scrape', handler: route(readOnly(served), options.logger) });
  }
}

function only(paths: readonly string[], routes: Routes): Routes {
  return Object.fromEntries(Object.entries(routes).filter(([path]) => paths.includes(path)));
}
