import { parseAddress } from '../../domain/net/address.js';
import { respond, TEXT_TYPE } from './plain-response.js';
import { eachHandler, type Handler, type Routes } from './router.js';

/**
 * The routes for requests that call this server by an IP address, `localhost` or one of the names; others get a 421. A web site
 * whose name its owner makes resolve to this server's address (DNS rebinding) would otherwise read, in the browser of somebody
 * who can reach the server, what the routes answer.
 */
export function byOwnName(routes: Routes, names: readonly string[]): Routes {
  const known = new Set(['localhost', ...names.map((name) => name.toLowerCase())]);
  const guarded = (handler: Handler): Handler =>
    function answerOwnName(query, response) {
      const host = calledHost(query.request.headers.host);
      if (host !== undefined && (known.has(host) || parseAddress(host))) return handler(query, response);
      const ways = `its IP address, ${[...known].join(' or ')}`;
      respond(response, 421, TEXT_TYPE, `this server does not go by that name; call it by ${ways}\n`);
    };
  return eachHandler(routes, guarded);
}

/** The Host header without its port and without brackets, in lower case. */
function calledHost(header: string | undefined): string | undefined {
  const parts = /^(?:\[([^\]]*)\]|([^:]+))(?::\d*)?$/.exec(header ?? '');
  return (parts?.[1] ?? parts?.[2])?.toLowerCase();
}
