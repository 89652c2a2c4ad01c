/** Servers of metrics, and their routes. */

import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { healthRoutes, type HealthSubject } from '../health/health-server.js';
import { HttpListener, type ListenOptions } from '../http/http-listener.js';
import { byOwnName, route, readOnly, respond, TEXT_TYPE, type Routes } from '../http/router.js';
import type { Profiler } from '../http/pprof-routes.js';
import type { HealthSlis } from './component-metrics.js';
import type { PrometheusMetrics } from './prometheus-metrics.js';

/** The address is `metricsBindAddress`. */
interface MetricsServerOptions extends ListenOptions {
  readonly routes: Routes;
  /** Whether profiles may be taken (`enableProfiling`). The profiler is loaded only then. */
  readonly profiling: boolean;
  /**
   * The server answers only requests that call it by an IP address, `localhost` or one of these names. Left out: by any name, as
   * kube-proxy does.
   */
  readonly names?: readonly string[];
}

/** Serves metrics, profiles and debugging (docs/internals/spec/server.md §9). */
export class MetricsServer {
  private listener: HttpListener | undefined;
  private profiler: Profiler | undefined;

  constructor(private readonly options: MetricsServerOptions) {}

  /** Resolves after the first attempt to listen. Rejects with BindError if that failed and `hardFail` is set. */
  async start(): Promise<void> {
    const { routes, profiling, names, logger } = this.options;
    const all = profiling ? { ...routes, ...(await this.profile()) } : routes;
    const served = names ? byOwnName(all, names) : all;
    this.listener = new HttpListener({ ...this.options, name: 'metrics', handler: route(served, logger) });
    await this.listener.start();
  }

  /** Idempotent. */
  async stop(): Promise<void> {
    await this.listener?.stop();
    this.profiler?.stop();
  }

  /** The actual port, once listening. */
  get port(): number | undefined {
    return this.listener?.port;
  }

  private async profile(): Promise<Routes> {
    const { Profiler, pprofRoutes } = await import('../http/pprof-routes.js');
    this.profiler = new Profiler();
    await this.profiler.start();
    return pprofRoutes(this.profiler);
  }
}

/** The address is `--scrape-bind-address`. */
interface ScrapeServerOptions extends ListenOptions, HealthSubject {
  /** Those of the metrics server; only the metrics among them are served. */
  readonly routes: Routes;
}

/** The enabled routes of the metrics server. */
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

/** `/metrics` and `/metrics/slis` (docs/internals/spec/server.md §9). DELETE on the latter resets it. */
export function metricsRoutes(metrics: PrometheusMetrics, slis: HealthSlis): Routes {
  return {
    '/metrics': async ({ request }, response) => {
      const text = await metrics.exposition();
      if (!/\bgzip\b/.test(String(request.headers['accept-encoding'])))
        return respond(response, 200, metrics.contentType, text);
      const body = await compress(text, { level: 1 });
      response.setHeader('Content-Encoding', 'gzip');
      respond(response, 200, metrics.contentType, body);
    },
    '/metrics/slis': async ({ method }, response) => {
      if (method !== 'DELETE') return respond(response, 200, slis.contentType, await slis.exposition());
      slis.reset();
      respond(response, 200, TEXT_TYPE, 'metrics reset\n');
    },
  };
}

const compress = promisify(gzip);
