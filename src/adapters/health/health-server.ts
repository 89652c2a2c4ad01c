/** Serves health to load balancers and probes (docs/internals/spec/server.md §8.2). */

import type { HealthVerdict, ProxyHealth } from '../../application/health/proxy-health.js';
import type { Readiness, ReadinessVerdict } from '../../application/health/readiness.js';
import type { Metrics } from '../../application/ports/metrics.js';
import { HttpListener, type ListenOptions } from '../http/http-listener.js';
import { route, respondJson, type Routes } from '../http/router.js';

/** The sources of health, and the counter of answers. */
export interface HealthSubject {
  readonly health: ProxyHealth;
  readonly readiness: Readiness;
  readonly metrics: Pick<Metrics, 'probed'>;
}

/** The address is `healthzBindAddress`. */
type HealthServerOptions = ListenOptions & HealthSubject;

/** Serves load balancers and probes (docs/internals/spec/server.md §8.2). */
export class HealthServer extends HttpListener {
  constructor(options: HealthServerOptions) {
    super({ ...options, name: 'healthz', handler: route(healthRoutes(options), options.logger) });
  }
}

/**
 * Answers for load balancers and probes (docs/internals/spec/server.md §8.2): `/healthz` is 200 when the proxy is healthy and the node
 * eligible, `/livez` unless a sync is overdue; otherwise 503. Two fields of the body are not kube-proxy's: `reason` explains a 503, and
 * `stale` lists kinds whose news may be missing. `/readyz` is our own and lists all its conditions.
 */
export function healthRoutes({ health, readiness, metrics }: HealthSubject): Routes {
  return {
    '/healthz': (_, response) => {
      const verdict = health.verdict();
      const code = verdict.healthy && verdict.nodeEligible ? 200 : 503;
      metrics.probed('healthz', code);
      respondJson(response, code, healthBody(verdict, code, verdict.nodeEligible));
    },
    '/livez': (_, response) => {
      const verdict = health.liveness();
      const code = verdict.healthy ? 200 : 503;
      metrics.probed('livez', code);
      respondJson(response, code, healthBody(verdict, code));
    },
    '/readyz': (_, response) => {
      const verdict = readiness.verdict();
      respondJson(response, verdict.ready ? 200 : 503, readinessBody(verdict));
    },
  };
}

/** The body with kube-proxy's order of fields; `lastUpdated` is the current time for a 200. */
function healthBody(verdict: HealthVerdict, code: number, nodeEligible?: boolean): object {
  const status = [...verdict.families].map(([family, { lastUpdated, healthy }]) => [
    family,
    { lastUpdated: timestamp(lastUpdated), healthy },
  ]);
  const reasons = [
    verdict.reason,
    nodeEligible === false ? 'the node is not eligible for traffic' : undefined,
  ];
  return {
    lastUpdated: timestamp(code === 200 ? verdict.now : verdict.lastUpdated),
    currentTime: timestamp(verdict.now),
    ...(nodeEligible !== undefined && { nodeEligible }),
    healthy: verdict.healthy,
    ...(status.length > 0 && { status: Object.fromEntries(status) }),
    ...(code !== 200 && { reason: reasons.filter((reason) => reason !== undefined).join('; ') }),
    ...(verdict.stale.length > 0 && {
      stale: Object.fromEntries(verdict.stale.map(({ kind, reason }) => [kind, reason])),
    }),
  };
}

function readinessBody({ ready, now, checks }: ReadinessVerdict): object {
  return {
    ready,
    currentTime: timestamp(now),
    checks: Object.fromEntries(
      checks.map(({ name, reason }) => [name, reason === undefined ? { ok: true } : { ok: false, reason }]),
    ),
  };
}

/** RFC 3339 without trailing zeros, as Go writes it; Go's zero time for never. */
function timestamp(milliseconds: number | undefined): string {
  if (milliseconds === undefined) return '0001-01-01T00:00:00Z';
  return new Date(milliseconds).toISOString().replace(/\.?0*Z$/, 'Z');
}
