import type { ExplainAddress } from '../../application/explain/explain-address.js';
import type { Explain } from '../../application/explain/explain.js';
import { parseSubject } from '../../application/explain/subject.js';
import { respondJson, type Handler, type Routes } from '../../../adapters/http/router.js';

/** How much of the delivered events is programmed. */
export interface SyncState {
  /** Everything delivered has been programmed, and the source is not in the middle of a change of many objects. */
  readonly idle: boolean;
  /** Object events since the start. */
  readonly appliedEvents: number;
  /** Changes of what is programmed since the start, as the history counts them. */
  readonly changes: number;
}

/**
 * Our own: `/debug/sync` shows whether everything is programmed, `/debug/explain?subject=` what the proxy does for a Service, an
 * address or a port, and why. 404, with the explanation, for what is not known. Times are RFC 3339.
 */
export function serviceRoutes(
  explain: Explain,
  addresses: ExplainAddress,
  syncState: () => SyncState,
): Routes {
  const service = async (key: string, response: Parameters<Handler>[1]): Promise<void> => {
    const explanation = await explain.service(key);
    const found = explanation.known || explanation.problems.length > 0;
    respondJson(response, found ? 200 : 404, explanation);
  };
  return {
    '/debug/sync': (_, response) => respondJson(response, 200, syncState()),
    '/debug/explain': ({ parameters }, response) => {
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
