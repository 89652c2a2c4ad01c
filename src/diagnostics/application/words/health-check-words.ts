import type { HealthCheckState } from '../../../application/health/service-health-checks.js';

/** Whether the health check of a Service answers, and what: on terminals and on the page alike. */
export function healthCheckWords({ port, localEndpoints, listening, problem }: HealthCheckState): string {
  const state = listening ? 'listening' : `not listening${problem === undefined ? '' : `: ${problem}`}`;
  return `health check on port ${port}: ${state}; endpoints on this node: ${localEndpoints}`;
}
