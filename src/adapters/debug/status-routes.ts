import type { ChangeHistory } from '../../application/status/change-history.js';
import type { ReportStatus } from '../../application/status/report-status.js';
import { respondJson } from '../http/plain-response.js';
import type { Routes } from '../http/router.js';

/**
 * `/debug/status`: how the proxy is, a `ProxyStatus`, always with 200. `/debug/history?service=NAMESPACE/NAME`: its last
 * changes, a `History`, without the parameter those of all Services.
 */
export function statusRoutes(report: ReportStatus, history: ChangeHistory): Routes {
  return {
    '/debug/status': (_, response) => respondJson(response, 200, report.status()),
    '/debug/history': ({ parameters }, response) =>
      respondJson(response, 200, history.changes(parameters.get('service') || undefined)),
  };
}
