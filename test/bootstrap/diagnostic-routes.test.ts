import { respond, TEXT_TYPE, type Handler, type Routes } from '../../src/adapters/http/router.js';
import { parseCommandLine } from '../../src/bootstrap/configuration/command-line.js';
import { diagnosticRoutes } from '../../src/bootstrap/servers.js';
import { FakeClock } from '../../src/testing/fakes/fake-clock.js';
import { MemoryLogger } from '../../src/testing/fakes/memory-logger.js';
import { Served } from '../support/http/served.js';

const answer: Handler = (_, response) => respond(response, 200, TEXT_TYPE, 'ok');
const ROUTES: Routes = { '/debug/status': answer, '/debug/services/': answer, '/': answer };

let served: Served;
let loads: number;
beforeEach(() => {
  loads = 0;
});
afterEach(() => served.stop());

async function serve(...flags: readonly string[]): Promise<void> {
  const commandLine = parseCommandLine(flags, { readFile: () => '', hostname: () => 'node1' });
  const parts = { commandLine, logger: new MemoryLogger(), clock: new FakeClock() };
  const routes = diagnosticRoutes(parts, (given, startTime) => {
    expect(given).toBe(parts);
    expect(startTime).toBe(parts.clock.now());
    loads++;
    return Promise.resolve(ROUTES);
  });
  served = await Served.start(named(routes));
}

/** The routes for a client that calls the server by the name in its header `X-Host`: fetch does not let its callers choose Host. */
function named(routes: Routes): Routes {
  const renamed =
    (handler: Handler): Handler =>
    (query, response) => {
      query.request.headers.host = String(query.request.headers['x-host'] ?? '127.0.0.1:10249');
      return handler(query, response);
    };
  return Object.fromEntries(Object.entries(routes).map(([path, handler]) => [path, renamed(handler)]));
}

const statusOf = async (path: string, host = '127.0.0.1:10249'): Promise<number> =>
  (await served.get(path, { headers: { 'X-Host': host } })).status;

describe('the routes of the diagnostics', () => {
  it.each(['/debug/status', '/debug/services/', '/debug/services/a/b'])(
    'answer %s by address and by name of the node, and for no other name',
    async (path) => {
      await serve();
      expect(await statusOf(path, 'evil.example')).toBe(421);
      expect(loads).toBe(0);
      expect(await statusOf(path)).toBe(200);
      expect(await statusOf(path, 'node1:10249')).toBe(200);
    },
  );

  it('are loaded once, at the first request', async () => {
    await serve();
    expect(loads).toBe(0);
    await Promise.all([statusOf('/debug/status'), statusOf('/debug/status')]);
    await statusOf('/');
    expect(loads).toBe(1);
  });

  it.each(['/favicon.ico', '/debug', '/metrics/x'])(
    'are not loaded for %s, which nothing answers',
    async (path) => {
      await serve();
      expect(await statusOf(path)).toBe(404);
      expect(loads).toBe(0);
    },
  );

  it('are loaded again when that failed', async () => {
    const parts = {
      commandLine: parseCommandLine([], { hostname: () => 'node1' }),
      logger: new MemoryLogger(),
      clock: new FakeClock(),
    };
    const outcomes = [() => Promise.reject(new Error('no such file')), () => Promise.resolve(ROUTES)];
    served = await Served.start(named(diagnosticRoutes(parts, () => outcomes.shift()!())));
    expect(await statusOf('/debug/status')).toBe(500);
    expect(await statusOf('/debug/status')).toBe(200);
  });

  it('have a page for this machine alone, unless the configuration asks for it', async () => {
    const everywhere = '--metrics-bind-address=0.0.0.0:10249';
    for (const [flags, expected] of [
      [[], 421],
      [[everywhere], 404],
      [[everywhere, '--page'], 421],
      [['--page=false'], 404],
    ] as const) {
      await serve(...flags);
      expect(await statusOf('/', 'evil.example')).toBe(expected);
      expect(await statusOf('/page/page.js', 'evil.example')).toBe(expected);
      await served.stop();
    }
    await serve();
  });
});
