import type { MetricTable } from './metric-spec.js';

/** The metrics of `/metrics/slis` (docs/spec/server.md §9). */
export const SLI_METRICS = {
  healthcheck: {
    type: 'gauge',
    name: 'kubernetes_healthcheck',
    help: 'Whether a health check passed last time',
    stability: 'STABLE',
    labels: ['name', 'type'],
  },
  healthchecks: {
    type: 'counter',
    name: 'kubernetes_healthchecks_total',
    help: 'Health checks by result',
    stability: 'STABLE',
    labels: ['name', 'type', 'status'],
  },
  startTime: {
    type: 'gauge',
    name: 'process_start_time_seconds',
    help: 'When the process started, in seconds since the epoch',
  },
} as const satisfies MetricTable;
