import { isOverLoopback } from './client-source.js';
import { respond, TEXT_TYPE } from './plain-response.js';
import { eachHandler, type Routes } from './router.js';

/** The routes for GET and HEAD; other methods get a 405. */
export function readOnly(routes: Routes): Routes {
  return eachHandler(routes, (handler) => (query, response) => {
    if (query.method === 'GET' || query.method === 'HEAD') return handler(query, response);
    response.setHeader('Allow', 'GET, HEAD');
    respond(response, 405, TEXT_TYPE, `${query.path} can only be read\n`);
  });
}

/**
 * The routes for clients that come over loopback, as `kubectl exec` and `kubectl port-forward` do; others get a 403.
 * @param opening how to open them to others
 */
export function overLoopback(routes: Routes, opening: string): Routes {
  return eachHandler(routes, (handler) => (query, response) => {
    if (isOverLoopback(query.request.socket)) return handler(query, response);
    respond(response, 403, TEXT_TYPE, `${query.path} answers only over loopback; ${opening}\n`);
  });
}
