import type { ServerResponse } from 'node:http';
import type { HealthVerdict, ProxyHealth } from '../../application/health/proxy-health.js';
import type { Metrics } from '../../application/ports/metrics.js';
import { HttpListener, type ListenOptions } from '../http/http-listener.js';
import { JSON_TYPE, pathOf, respond, TEXT_TYPE } from '../http/plain-response.js';

/** The address is `healthzBindAddress`. */
export interface HealthServerOptions extends ListenOptions {
  readonly health: ProxyHealth;
  readonly metrics: Metrics;
}

/**
 * Answers load balancers and probes (spec/server.md 8.2): `/healthz` is 200 when the proxy is healthy and the node eligible,
 * `/livez` when the proxy is healthy; otherwise 503, and the body's `reason`, which kube-proxy does not have, says why.
 */
export class HealthServer extends HttpListener {
  constructor(options: HealthServerOptions) {
    super({
      ...options,
      name: 'healthz',
      handler: (request, response) => answer(options, request.url, response),
    });
  }
}

function answer(
  { health, metrics }: HealthServerOptions,
  target: string | undefined,
  response: ServerResponse,
): void {
  const path = pathOf(target);
  if (path !== '/healthz' && path !== '/livez') {
    respond(response, 404, TEXT_TYPE, '404 page not found\n');
    return;
  }
  const verdict = health.verdict();
  const forNode = path === '/healthz';
  const code = verdict.healthy && (verdict.nodeEligible || !forNode) ? 200 : 503;
  if (forNode) metrics.healthzAnswered(code);
  else metrics.livezAnswered(code);
  respond(response, code, JSON_TYPE, JSON.stringify(healthBody(verdict, code, forNode)));
}

/** The body in kube-proxy's order of fields; `lastUpdated` is the present when all is well. */
function healthBody(verdict: HealthVerdict, code: number, forNode: boolean): object {
  const status = [...verdict.families].map(([family, { lastUpdated, healthy }]) => [
    family,
    { lastUpdated: timestamp(lastUpdated), healthy },
  ]);
  return {
    lastUpdated: timestamp(code === 200 ? verdict.now : verdict.lastUpdated),
    currentTime: timestamp(verdict.now),
    ...(forNode && { nodeEligible: verdict.nodeEligible }),
    healthy: verdict.healthy,
    ...(status.length > 0 && { status: Object.fromEntries(status) }),
    ...(code !== 200 && { reason: verdict.reason }),
  };
}

/** RFC 3339 without trailing zeros, as Go writes it; Go's zero time for never. */
function timestamp(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '0001-01-01T00:00:00Z';
  return new Date(milliseconds).toISOString().replace(/\.?0*Z$/, 'Z');
}
