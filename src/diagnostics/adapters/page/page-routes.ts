import { respond, TEXT_TYPE, type Handler, type Routes } from '../../../adapters/http/router.js';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

/** The page runs its own script and sends requests to this server only; no other page can frame it. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "img-src 'self' data:",
  "frame-ancestors 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const HEADERS = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // The page of an earlier version would send requests that this version does not serve.
  'Cache-Control': 'no-cache',
};

/**
 * The page for browsers: `/` and `/page/`, with GET only. Each request reads its file, so a proxy without visitors keeps none in
 * memory. @param folder with the built files
 */
export function pageRoutes(folder: URL = builtPage(import.meta.url)): Routes {
  const file = (path: string, name: string, type: string): Handler =>
    async function sendFile(query, response) {
      // The router calls the handler of `/` for every path without a handler.
      if (query.path !== path) return respond(response, 404, TEXT_TYPE, '404 page not found\n');
      if (query.method !== 'GET') {
        response.setHeader('Allow', 'GET');
        return respond(response, 405, TEXT_TYPE, `${path} can only be read, with GET\n`);
      }
      const body = await readFile(new URL(name, folder));
      for (const [header, value] of Object.entries(HEADERS)) response.setHeader(header, value);
      respond(response, 200, `${type}; charset=utf-8`, body);
    };
  return {
    '/': file('/', 'index.html', 'text/html'),
    '/page/page.js': file('/page/page.js', 'page.js', 'text/javascript'),
    '/page/page.css': file('/page/page.css', 'page.css', 'text/css'),
  };
}

/** `dist/page` of this package, found from a file of its bundle, its library or its source. */
function builtPage(file: string): URL {
  let folder = new URL('.', file);
  for (;;) {
    const candidate = new URL('dist/page/', folder);
    const parent = new URL('..', folder);
    if (existsSync(candidate) || parent.href === folder.href) return candidate;
    folder = parent;
  }
}
