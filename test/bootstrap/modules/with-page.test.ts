import { respond, TEXT_TYPE } from '../../../src/adapters/http/plain-response.js';
import type { Handler, Routes } from '../../../src/adapters/http/router.js';
import { parseCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import { withPage } from '../../../src/bootstrap/modules/with-page.js';
import { Served } from '../../support/http/served.js';

const answer: Handler = (_, response) => respond(response, 200, TEXT_TYPE, 'ok');
const OWN = ['/debug/status', '/debug/services/'];
const KUBE_PROXYS = ['/metrics', '/healthz', '/configz', '/debug/flags', '/debug/flags/v'];

let served: Served | undefined;
afterEach(() => served?.stop());

/** What a server with some routes answers, if it is called by this name. */
async function statusAt(
  path: string,
  host: string,
  method = 'GET',
  ...flags: readonly string[]
): Promise<number> {
  const commandLine = parseCommandLine(flags, { readFile: () => '', hostname: () => 'node1' });
  const routes = Object.fromEntries([...OWN, ...KUBE_PROXYS].map((known) => [known, answer]));
  served = await Served.start(calledBy(host, withPage(routes, commandLine)));
  return (await served.get(path, { method })).status;
}

/** fetch does not let its callers choose the Host header. */
function calledBy(host: string, routes: Routes): Routes {
  const renamed =
    (handler: Handler): Handler =>
    (query, response) => {
      query.request.headers.host = host;
      return handler(query, response);
    };
  return Object.fromEntries(Object.entries(routes).map(([path, handler]) => [path, renamed(handler)]));
}

describe('the metrics server', () => {
  it.each([...OWN, ...KUBE_PROXYS])('answers %s by address and by name of the node', async (path) => {
    expect(await statusAt(path, '127.0.0.1:10249')).toBe(200);
    await served?.stop();
    expect(await statusAt(path, 'node1:10249')).toBe(200);
  });

  it.each(OWN)('does not answer %s for the name of another', async (path) => {
    expect(await statusAt(path, 'evil.example')).toBe(421);
  });

  it.each(KUBE_PROXYS)('answers %s for any name, as kube-proxy does', async (path) => {
    expect(await statusAt(path, 'metrics.example')).toBe(200);
  });

  it.each(OWN)('lets %s be read, and nothing else', async (path) => {
    expect(await statusAt(path, '127.0.0.1', 'POST')).toBe(405);
    await served?.stop();
    expect(await statusAt(path, '127.0.0.1', 'HEAD')).toBe(200);
  });

  it("answers kube-proxy's own debugging for any method", async () => {
    expect(await statusAt('/debug/flags/v', '127.0.0.1', 'PUT')).toBe(200);
  });

  it('has a page for this machine alone, unless it is asked for', async () => {
    const everywhere = '--metrics-bind-address=0.0.0.0:10249';
    expect(await statusAt('/page/none', '127.0.0.1', 'GET', everywhere, '--page')).toBe(404);
    await served?.stop();
    for (const [flags, expected] of [
      [[], 421],
      [[everywhere], 404],
      [[everywhere, '--page'], 421],
      [['--page=false'], 404],
    ] as const) {
      expect(await statusAt('/', 'evil.example', 'GET', ...flags)).toBe(expected);
      await served?.stop();
    }
  });
});
