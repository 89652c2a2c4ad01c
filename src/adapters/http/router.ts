/** Routes of an HTTP server: handlers by path, who may call them, and how they respond. */

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from '../../application/ports/logger.js';
import { parseAddress } from '../../domain/net/address.js';
import { isOverLoopback } from './connection-guard.js';

/** A request, with the parts that handlers use. */
export interface Query {
  readonly method: string;
  readonly path: string;
  readonly parameters: URLSearchParams;
  readonly request: IncomingMessage;
}

export type Handler = (query: Query, response: ServerResponse) => void | Promise<void>;

/** By exact path; a path that ends with `/` also handles everything below it that has no handler of its own. */
export type Routes = Readonly<Record<string, Handler>>;

/** Passes each request to the handler of its path. Responds with 404 if there is none, with 500 if it fails. */
export function route(routes: Routes, logger: Logger): RequestListener {
  const handlers = new Map(Object.entries(routes));
  const folders = [...handlers.keys()]
    .filter((path) => path.endsWith('/'))
    .sort((a, b) => b.length - a.length);
  return (request, response) => {
    const [path = '', search = ''] = splitTarget(request.url ?? '');
    const handler =
      handlers.get(path) ?? handlers.get(folders.find((folder) => path.startsWith(folder)) ?? '');
    if (!handler) return respond(response, 404, TEXT_TYPE, '404 page not found\n');
    const query = { method: request.method ?? 'GET', path, parameters: new URLSearchParams(search), request };
    Promise.resolve()
      .then(() => handler(query, response))
      .catch((error: unknown) => {
        logger.warn({ path, error }, 'request failed');
        if (!response.headersSent) respond(response, 500, TEXT_TYPE, `${path} failed\n`);
        else response.destroy();
      });
  };
}

function splitTarget(target: string): readonly string[] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target] : [target.slice(0, mark), target.slice(mark + 1)];
}

/** The same paths, each with its handler inside of another. */
export function eachHandler(routes: Routes, inside: (handler: Handler) => Handler): Routes {
  return Object.fromEntries(Object.entries(routes).map(([path, handler]) => [path, inside(handler)]));
}

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

/**
 * The routes for requests that call this server by an IP address, `localhost` or one of the names; others get a 421. A web site
 * whose name its owner makes resolve to this server's address (DNS rebinding) would otherwise read, in the browser of a user
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

export const JSON_TYPE = 'application/json';
export const TEXT_TYPE = 'text/plain; charset=utf-8';
export const HTML_TYPE = 'text/html; charset=utf-8';

/** Sends the response with this body, in a way that keeps browsers from guessing another type. */
export function respond(response: ServerResponse, status: number, type: string, body: string | Buffer): void {
  response.writeHead(status, {
    'Content-Type': type,
    'X-Content-Type-Options': 'nosniff',
    'Content-Length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Sends the value as JSON. */
export function respondJson(response: ServerResponse, status: number, value: object): void {
  respond(response, status, JSON_TYPE, JSON.stringify(value));
}

/** Aborted when the client leaves, and when it has its answer. */
export function clientLeft(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  if (response.destroyed) left.abort();
  response.once('close', () => left.abort());
  return left.signal;
}
