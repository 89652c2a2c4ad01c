import { respond, TEXT_TYPE, type Handler, type Routes } from '../../../adapters/http/router.js';
import type { PageFileName, PageFiles } from './page-files.js';

/** Nothing from elsewhere, nothing to elsewhere, in no frame; what the page may do is run its script and ask this server. */
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
  // A page of the version before would ask for what this one no longer answers.
  'Cache-Control': 'no-cache',
};

/** `/` and what is under `/page/`: the page for browsers. Only GET; what it shows it asks of the other routes. */
export function pageRoutes(files: PageFiles): Routes {
  const file = (path: string, name: PageFileName): Handler =>
    async function sendFile(query, response) {
      // The router has `/` handle everything that nothing else handles.
      if (query.path !== path) return respond(response, 404, TEXT_TYPE, '404 page not found\n');
      if (query.method !== 'GET') {
        response.setHeader('Allow', 'GET');
        return respond(response, 405, TEXT_TYPE, `${path} is only read, with GET\n`);
      }
      const { type, body } = await files.read(name);
      for (const [header, value] of Object.entries(HEADERS)) response.setHeader(header, value);
      respond(response, 200, type, body);
    };
  return {
    '/': file('/', 'index.html'),
    '/page/page.js': file('/page/page.js', 'page.js'),
    '/page/page.css': file('/page/page.css', 'page.css'),
  };
}
