import type { Explain } from '../../application/use-cases/explain.js';
import { JSON_TYPE, respond } from '../http/plain-response.js';
import type { Handler, Routes } from '../http/router.js';

/** How much of the delivered events is programmed. */
export interface SyncState {
  /** Everything delivered has been programmed. */
  readonly idle: boolean;
  /** Object events since the start. */
  readonly appliedEvents: number;
}

const SERVICES = '/debug/services/';

/**
 * Our own: `/debug/sync` shows whether everything is programmed, `/debug/services` what is not, and
 * `/debug/services/NAMESPACE/NAME` what the proxy does for one Service and why. Times are milliseconds since the epoch.
 */
export function serviceRoutes(explain: Explain, syncState: () => SyncState): Routes {
  const overview: Handler = (_, response) => respondJson(response, 200, explain.overview());
  return {
    '/debug/sync': (_, response) => respondJson(response, 200, syncState()),
    '/debug/services': overview,
    [SERVICES]: (query, response) => {
      if (query.path === SERVICES) return overview(query, response);
      const explanation = explain.service(query.path.slice(SERVICES.length));
      const found = explanation.known || explanation.problems.length > 0;
      return respondJson(response, found ? 200 : 404, explanation);
    },
  };
}

function respondJson(response: Parameters<Handler>[1], status: number, body: object): void {
  respond(response, status, JSON_TYPE, JSON.stringify(body));
}
