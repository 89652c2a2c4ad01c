import type { ExplainAddress } from '../../application/explain/explain-address.js';
import type { Explain } from '../../application/explain/explain.js';
import { parseSubject } from '../../application/explain/subject.js';
import type { ReportStatus } from '../../application/status/report-status.js';
import { respondJson } from '../http/plain-response.js';
import type { Handler, Query, Routes } from '../http/router.js';

/** How much of the delivered events is programmed. */
export interface SyncState {
  /** Everything delivered has been programmed, and the source is not in the middle of a change of many objects. */
  readonly idle: boolean;
  /** Object events since the start. */
  readonly appliedEvents: number;
  /** Changes of what is programmed since the start, as the history counts them. */
  readonly changes: number;
}

const SERVICES = '/debug/services/';

/**
 * Our own: `/debug/sync` shows whether everything is programmed, `/debug/services` what is not,
 * `/debug/services/NAMESPACE/NAME` what the proxy does for one Service and why, and `/debug/explain?subject=` the same for a
 * Service, an address or a port. 404, with the explanation, for what is not known. Times are RFC 3339.
 */
export function serviceRoutes(
  explain: Explain,
  addresses: ExplainAddress,
  report: Pick<ReportStatus, 'status'>,
  syncState: () => SyncState,
): Routes {
  const overview: Handler = (_, response) => {
    const { families, ignored } = report.status();
    respondJson(response, 200, { families, rejected: ignored });
  };
  const service = async (key: string, response: Parameters<Handler>[1]): Promise<void> => {
    const explanation = await explain.service(key);
    const found = explanation.known || explanation.problems.length > 0;
    respondJson(response, found ? 200 : 404, explanation);
  };
  return {
    '/debug/sync': (_, response) => respondJson(response, 200, syncState()),
    '/debug/services': overview,
    [SERVICES]: (query, response) =>
      query.path === SERVICES
        ? overview(query, response)
        : service(query.path.slice(SERVICES.length), response),
    '/debug/explain': ({ parameters }: Query, response) => {
      const text = parameters.get('subject') ?? '';
      const subject = parseSubject(text);
      if (!subject)
        return respondJson(response, 400, {
          error: `subject ${JSON.stringify(text)} is neither NAMESPACE/NAME nor ADDRESS, ADDRESS:PORT or PORT`,
        });
      if (subject.kind === 'service') return service(subject.service, response);
      const explanation = addresses.address(subject);
      return respondJson(response, explanation.otherwise === undefined ? 200 : 404, explanation);
    },
  };
}
