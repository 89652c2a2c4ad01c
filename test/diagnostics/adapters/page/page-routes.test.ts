import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { pageRoutes } from '../../../../src/diagnostics/adapters/page/page-routes.js';
import { Served } from '../../../support/http/served.js';

let folder: string;
let served: Served;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kubeproxy-page-files-'));
  for (const name of ['index.html', 'page.js', 'page.css']) await writeFile(join(folder, name), `of ${name}`);
  served = await Served.start(pageRoutes(pathToFileURL(`${folder}/`)));
});
afterEach(async () => {
  await served.stop();
  await rm(folder, { recursive: true });
});

describe('pageRoutes', () => {
  it.each([
    ['/', 'text/html; charset=utf-8', 'of index.html'],
    ['/page/page.js', 'text/javascript; charset=utf-8', 'of page.js'],
    ['/page/page.css', 'text/css; charset=utf-8', 'of page.css'],
  ])('serve %s', async (path, type, body) => {
    const response = await served.get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, type]);
    expect(await response.text()).toBe(body);
  });

  it('let the page use nothing from elsewhere, and nobody frame it', async () => {
    const { headers } = await served.get('/');
    expect(headers.get('content-security-policy')!.split('; ')).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "connect-src 'self'",
      "img-src 'self' data:",
      "frame-ancestors 'none'",
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
  });

  it.each(['POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'])('refuse %s', async (method) => {
    for (const path of ['/', '/page/page.js']) {
      const response = await served.get(path, { method });
      expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET']);
    }
  });

  it.each(['/nothing', '/page/', '/page/../page.js', '/page/index.html'])(
    'have nothing at %s',
    async (path) => {
      expect((await served.get(path)).status).toBe(404);
    },
  );

  it('read the files when they are asked for', async () => {
    await writeFile(join(folder, 'page.css'), 'newer');
    expect(await served.text('/page/page.css')).toBe('newer');
  });
});
