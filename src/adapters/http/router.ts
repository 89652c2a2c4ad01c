import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from '../../application/ports/logger.js';
import { respond, TEXT_TYPE } from './plain-response.js';

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

/** The same paths, each with its handler inside of another. */
export function eachHandler(routes: Routes, inside: (handler: Handler) => Handler): Routes {
  return Object.fromEntries(Object.entries(routes).map(([path, handler]) => [path, inside(handler)]));
}

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
        logger.error({ path, error }, 'request failed');
        if (!response.headersSent) respond(response, 500, TEXT_TYPE, `${path} failed\n`);
        else response.destroy();
      });
  };
}

function splitTarget(target: string): readonly string[] {
  const mark = target.indexOf('?');
  return mark < 0 ? [target] : [target.slice(0, mark), target.slice(mark + 1)];
}
