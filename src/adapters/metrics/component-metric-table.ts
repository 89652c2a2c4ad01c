import type { MetricTable } from './metric-spec.js';

const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** The metrics that every Kubernetes component has (docs/spec/server.md §10, last paragraph). */
export const COMPONENT_METRICS = {
  buildInfo: {
    type: 'gauge',
    name: 'kubernetes_build_info',
    help: 'Always 1; the labels identify the build',
    stability: 'ALPHA',
    labels: [
      'major',
      'minor',
      'git_version',
      'git_commit',
      'git_tree_state',
      'build_date',
      'go_version',
      'compiler',
      'platform',
    ],
  },
  featureEnabled: {
    type: 'gauge',
    name: 'kubernetes_feature_enabled',
    help: 'Whether a feature gate is enabled',
    stability: 'BETA',
    labels: ['name', 'stage'],
  },
  registered: {
    type: 'counter',
    name: 'registered_metrics_total',
    help: 'Metrics registered, by stability',
    stability: 'BETA',
    labels: ['stability_level', 'deprecated_version'],
  },
  hidden: {
    type: 'counter',
    name: 'hidden_metrics_total',
    help: 'Metrics hidden because they are deprecated',
    stability: 'BETA',
  },
  disabled: {
    type: 'counter',
    name: 'disabled_metrics_total',
    help: 'Metrics disabled',
    stability: 'BETA',
  },
  restRequests: {
    type: 'counter',
    name: 'rest_client_requests_total',
    help: 'Requests to the API server, by status, method and host',
    stability: 'ALPHA',
    labels: ['code', 'method', 'host'],
  },
  restDuration: {
    type: 'histogram',
    name: 'rest_client_request_duration_seconds',
    help: 'Time from a request to the API server to the beginning of its response',
    stability: 'ALPHA',
    labels: ['verb', 'host'],
    buckets: REQUEST_BUCKETS,
  },
  restWaiting: {
    type: 'histogram',
    name: 'rest_client_rate_limiter_duration_seconds',
    help: 'Time that clientConnection.qps delayed requests to the API server',
    stability: 'ALPHA',
    labels: ['verb', 'host'],
    buckets: REQUEST_BUCKETS,
  },
} as const satisfies MetricTable;
