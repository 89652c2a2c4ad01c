import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Routes } from '../http/router.js';
import { respond, TEXT_TYPE } from '../http/plain-response.js';
import type { HealthSlis } from './health-slis.js';
import type { PrometheusMetrics } from './prometheus-metrics.js';

const compress = promisify(gzip);

/** `/metrics` and `/metrics/slis` (docs/spec/server.md §9). DELETE on the latter resets it. */
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
