import type { ChangeHistory } from '../../../application/status/change-history.js';
import type { ReportStatus } from '../../application/status/report-status.js';
import { respondJson, type Routes } from '../../../adapters/http/router.js';

/**
 * `/debug/status`: how the proxy is, a `ProxyStatus`, always with 200. `/debug/history?service=NAMESPACE/NAME`, as often as
 * wanted: the last changes of these Services, a `History`, without the parameter those of all.
 * @param renew looks again at what only somebody who asks wants to know
 */
export function statusRoutes(
  report: ReportStatus,
  history: ChangeHistory,
  renew: () => Promise<void> = () => Promise.resolve(),
): Routes {
  return {
    async '/debug/status'(_, response) {
      await renew();
      respondJson(response, 200, report.status());
    },
    '/debug/history': ({ parameters }, response) =>
      respondJson(response, 200, history.changes(parameters.getAll('service').filter(Boolean))),
  };
}
