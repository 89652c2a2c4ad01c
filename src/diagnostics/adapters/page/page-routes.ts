import { respond, TEXT_TYPE, type Handler, type Routes } from '../../../adapters/http/router.js';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';

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

/** The built files of the page, with their media types. */
const TYPES = {
  'index.html': 'text/html; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
} as const;

export type PageFileName = keyof typeof TYPES;

export interface PageFile {
  readonly type: string;
  readonly body: Buffer;
}

/** The page as the build left it. It is read when it is asked for, so that a proxy at which nobody looks does not hold it. */
export class PageFiles {
  /** @param folder where the build put them */
  constructor(private readonly folder: URL = builtPage(import.meta.url)) {}

  /** Rejects with the system's error when the file cannot be read. */
  async read(name: PageFileName): Promise<PageFile> {
    return { type: TYPES[name], body: await readFile(new URL(name, this.folder)) };
  }
}

/** `dist/page` of this package, seen from a file of its bundle, of its library or of its source. */
function builtPage(file: string): URL {
  let folder = new URL('.', file);
  for (;;) {
    const candidate = new URL('dist/page/', folder);
    const parent = new URL('..', folder);
    if (existsSync(candidate) || parent.href === folder.href) return candidate;
    folder = parent;
  }
}
