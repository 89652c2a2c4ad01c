import { metric, type MetricTable } from './metric-spec.js';

const REQUEST_BUCKETS = [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60];

/** The metrics that every Kubernetes component has (docs/spec/server.md §10, last paragraph). */
export const COMPONENT_METRICS = {
  buildInfo: metric('gauge', 'kubernetes_build_info', 'Always 1; the labels identify the build', {
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
  }),
  featureEnabled: metric('gauge', 'kubernetes_feature_enabled', 'Whether a feature gate is enabled', {
    stability: 'BETA',
    labels: ['name', 'stage'],
  }),
  registered: metric('counter', 'registered_metrics_total', 'Metrics registered, by stability', {
    stability: 'BETA',
    labels: ['stability_level', 'deprecated_version'],
  }),
  hidden: metric('counter', 'hidden_metrics_total', 'Metrics hidden because they are deprecated', {
    stability: 'BETA',
  }),
  disabled: metric('counter', 'disabled_metrics_total', 'Metrics disabled', { stability: 'BETA' }),
  restRequests: metric(
    'counter',
    'rest_client_requests_total',
    'Requests to the API server, by status, method and host',
    { stability: 'ALPHA', labels: ['code', 'method', 'host'] },
  ),
  restDuration: metric(
    'histogram',
    'rest_client_request_duration_seconds',
    'Time from a request to the API server to the beginning of its response',
    { stability: 'ALPHA', labels: ['verb', 'host'], buckets: REQUEST_BUCKETS },
  ),
  restWaiting: metric(
    'histogram',
    'rest_client_rate_limiter_duration_seconds',
    'Time that clientConnection.qps delayed requests to the API server',
    { stability: 'ALPHA', labels: ['verb', 'host'], buckets: REQUEST_BUCKETS },
  ),
} satisfies MetricTable;
