import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../../application/ports/clock.js';
import type { Logger } from '../../application/ports/logger.js';
import { type BindAddress, HttpListener } from '../http/http-listener.js';
import { JSON_TYPE, pathOf, respond, TEXT_TYPE } from '../http/plain-response.js';
import type { PrometheusMetrics } from './prometheus-metrics.js';

export interface MetricsServerOptions {
  readonly metrics: PrometheusMetrics;
  /** The mode in force, such as `nftables`. */
  readonly proxyMode: string;
  /** How far the proxy has come with the events it was given. */
  readonly syncState: () => SyncState;
  readonly logger: Logger;
  readonly clock: Clock;
  /** `metricsBindAddress`. */
  readonly address: BindAddress;
  /** `bindAddressHardFail`. */
  readonly hardFail: boolean;
}

/** What `/debug/sync` answers. */
export interface SyncState {
  /** Everything that was delivered has been programmed. */
  readonly idle: boolean;
  /** Object events since the start. */
  readonly appliedEvents: number;
}

/**
 * `/metrics`, `/proxyMode`, `/healthz` and `/debug/sync` for those who watch the proxy itself (spec/server.md 9). This `/healthz` says only
 * that the process answers; the proxy's health is at the health server.
 */
export class MetricsServer {
  private readonly listener: HttpListener;

  constructor(private readonly options: MetricsServerOptions) {
    const handler = (request: IncomingMessage, response: ServerResponse): void =>
      void this.answer(request, response);
    this.listener = new HttpListener({ ...options, name: 'metrics', handler });
  }

  /** Rejects with BindError only with `hardFail`. */
  start(): Promise<void> {
    return this.listener.start();
  }

  stop(): Promise<void> {
    return this.listener.stop();
  }

  get port(): number | undefined {
    return this.listener.port;
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { metrics, proxyMode, logger } = this.options;
    switch (pathOf(request.url)) {
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
        return respond(response, 200, JSON_TYPE, JSON.stringify(this.options.syncState()));
      default:
        return respond(response, 404, TEXT_TYPE, '404 page not found\n');
    }
  }
}
