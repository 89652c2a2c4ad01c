import { metricsWith, type MetricTable } from './metric-spec.js';

const alpha = metricsWith({ stability: 'ALPHA' });
const beta = metricsWith({ stability: 'BETA' });
const requestTime = metricsWith({
  stability: 'ALPHA',
  labels: ['verb', 'host'],
  buckets: [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2, 4, 8, 15, 30, 60],
});

/** The metrics that every Kubernetes component has (docs/spec/server.md §10, last paragraph). */
export const COMPONENT_METRICS = {
  buildInfo: alpha.gauge('kubernetes_build_info', 'Always 1; the labels identify the build', {
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
  featureEnabled: beta.gauge('kubernetes_feature_enabled', 'Whether a feature gate is enabled', {
    labels: ['name', 'stage'],
  }),
  registered: beta.counter('registered_metrics_total', 'Metrics registered, by stability', {
    labels: ['stability_level', 'deprecated_version'],
  }),
  hidden: beta.counter('hidden_metrics_total', 'Metrics hidden because they are deprecated'),
  disabled: beta.counter('disabled_metrics_total', 'Metrics disabled'),
  restRequests: alpha.counter(
    'rest_client_requests_total',
    'Requests to the API server, by status, method and host',
    { labels: ['code', 'method', 'host'] },
  ),
  restDuration: requestTime.histogram(
    'rest_client_request_duration_seconds',
    'Time from a request to the API server to the beginning of its response',
  ),
  restWaiting: requestTime.histogram(
    'rest_client_rate_limiter_duration_seconds',
    'Time that clientConnection.qps delayed requests to the API server',
  ),
} satisfies MetricTable;
