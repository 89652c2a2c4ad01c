import { errorMessage } from '../../application/error-message.js';
import type { TraceAnswer } from '../../application/trace/answer.js';
import type { TracedRules } from '../../application/trace/trace-packets.js';
import { InvalidQueryError, parseQuery, type TraceQuery } from '../../domain/trace/query.js';
import { JSON_TYPE, respond } from '../http/plain-response.js';
import type { Routes } from '../http/router.js';

/**
 * Our own: `/debug/trace?from=SOURCE&to=ADDRESS:PORT/PROTOCOL` shows what becomes of new connections, by the rules as they should be,
 * or with `kernel=true` as they are. What cannot be answered is `{"error": …}`: 400 for a query that cannot be read, otherwise 500.
 */
export function traceRoutes(trace: (query: TraceQuery, rules: TracedRules) => Promise<TraceAnswer>): Routes {
  return {
    '/debug/trace': async ({ parameters }, response) => {
      try {
        const query = parseQuery(parameters.get('from') ?? '', parameters.get('to') ?? '');
        const answer = await trace(query, parameters.get('kernel') === 'true' ? 'actual' : 'desired');
        respond(response, 200, JSON_TYPE, JSON.stringify(answer));
      } catch (error) {
        const status = error instanceof InvalidQueryError ? 400 : 500;
        respond(response, status, JSON_TYPE, JSON.stringify({ error: errorMessage(error) }));
      }
    },
  };
}
