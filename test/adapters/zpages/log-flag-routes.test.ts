import { logFlagRoutes } from '../../../src/adapters/zpages/log-flag-routes.js';
import { Served } from '../../support/http/served.js';

let served: Served;
let set: number[];

beforeEach(async () => {
  set = [];
  served = await Served.start(logFlagRoutes((verbosity) => void set.push(verbosity)));
});

afterEach(() => served.stop());

describe('/debug/flags (docs/spec/server.md §9)', () => {
  it.each(['/debug/flags', '/debug/flags/', '/debug/flags/other'])('%s lists v', async (path) => {
    const response = await served.get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(await response.text()).toContain('href="/debug/flags/v"');
  });

  it('sets the verbosity', async () => {
    const response = await served.get('/debug/flags/v', { method: 'PUT', body: '4' });
    expect([response.status, await response.text()]).toEqual([
      200,
      'successfully set klog.logging.verbosity to 4',
    ]);
    expect(set).toEqual([4]);
  });

  it.each(['', 'four', '4.5', '9'.repeat(5000)])('rejects what is not a number (%#)', async (body) => {
    expect((await served.get('/debug/flags/v', { method: 'PUT', body })).status).toBe(400);
    expect(set).toEqual([]);
  });

  it('knows no other method', async () => {
    expect((await served.get('/debug/flags/v')).status).toBe(406);
    expect((await served.get('/debug/flags/v', { method: 'POST', body: '4' })).status).toBe(406);
  });
});
