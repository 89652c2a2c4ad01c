import { HttpListener, type ListenOptions } from '../http/http-listener.js';
import { route } from '../http/router.js';
import { healthRoutes, type HealthSubject } from './health-routes.js';

/** The address is `healthzBindAddress`. */
export type HealthServerOptions = ListenOptions & HealthSubject;

/** Serves load balancers and probes (docs/spec/server.md §8.2). */
export class HealthServer extends HttpListener {
  constructor(options: HealthServerOptions) {
    super({ ...options, name: 'healthz', handler: route(healthRoutes(options), options.logger) });
  }
}
