import type { Profiler } from '../pprof/profiler.js';
import { byOwnName } from '../http/by-own-name.js';
import { HttpListener, type ListenOptions } from '../http/http-listener.js';
import { route, type Routes } from '../http/router.js';

/** The address is `metricsBindAddress`. */
export interface MetricsServerOptions extends ListenOptions {
  readonly routes: Routes;
  /** Whether profiles may be taken (`enableProfiling`). The profiler is loaded only then. */
  readonly profiling: boolean;
  /**
   * The server answers only requests that call it by an IP address, `localhost` or one of these names. Left out: by any name, as
   * kube-proxy does.
   */
  readonly names?: readonly string[];
}

/** Serves metrics, profiles and debugging (docs/spec/server.md §9). */
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
    const [{ Profiler }, { pprofRoutes }] = await Promise.all([
      import('../pprof/profiler.js'),
      import('../pprof/pprof-routes.js'),
    ]);
    this.profiler = new Profiler();
    await this.profiler.start();
    return pprofRoutes(this.profiler);
  }
}
