import type { ServerResponse } from 'node:http';
import { HttpListener, type ListenOptions } from '../http/http-listener.js';
import { JSON_TYPE, pathOf, respond, TEXT_TYPE } from '../http/plain-response.js';
import type { PrometheusMetrics } from './prometheus-metrics.js';

/** The address is `metricsBindAddress`. */
export interface MetricsServerOptions extends ListenOptions {
  readonly metrics: PrometheusMetrics;
  /** The mode in force, such as `nftables`. */
  readonly proxyMode: string;
  /** How far the proxy has come with the events it was given. */
  readonly syncState: () => SyncState;
}

/** What `/debug/sync` answers. */
export interface SyncState {
  /** Everything that was delivered has been programmed. */
  readonly idle: boolean;
  /** Object events since the start. */
  readonly appliedEvents: number;
}

/**
 * `/metrics`, `/proxyMode`, `/healthz` and `/debug/sync` for those who watch the proxy itself (spec/server.md 9). This
 * `/healthz` says only that the process answers; the proxy's health is at the health server.
 */
export class MetricsServer extends HttpListener {
  constructor(options: MetricsServerOptions) {
    super({
      ...options,
      name: 'metrics',
      handler: (request, response) => void answer(options, request.url, response),
    });
  }
}

async function answer(
  { metrics, proxyMode, syncState, logger }: MetricsServerOptions,
  target: string | undefined,
  response: ServerResponse,
): Promise<void> {
  switch (pathOf(target)) {
    case '/metrics':
      try {
        respond(response, 200, metrics.contentType, await metrics.exposition());
      } catch (error) {
        logger.error({ error }, 'metrics cannot be collected');
        respond(response, 500, TEXT_TYPE, 'metrics cannot be collected\n');
      }
      return;
    case '/proxyMode':
      return respond(response, 200, TEXT_TYPE, proxyMode);
    case '/healthz':
      return respond(response, 200, TEXT_TYPE, 'ok');
    case '/debug/sync':
      return respond(response, 200, JSON_TYPE, JSON.stringify(syncState()));
    default:
      return respond(response, 404, TEXT_TYPE, '404 page not found\n');
  }
}
