import { pingRoutes } from '../../../src/adapters/zpages/ping-routes.js';
import { Served } from '../../support/http/served.js';

let served: Served;
let checked: unknown[];

beforeEach(async () => {
  checked = [];
  served = await Served.start(pingRoutes({ checked: (...check) => void checked.push(check) }));
});

afterEach(() => served.stop());

describe('/healthz of the metrics server (docs/spec/server.md §9)', () => {
  it.each([
    ['/healthz', 'ok'],
    ['/healthz/ping', 'ok'],
    ['/healthz?verbose', '[+]ping ok\nhealthz check passed\n'],
    ['/healthz?verbose&exclude=ping', '[+]ping excluded: ok\nhealthz check passed\n'],
    [
      '/healthz?verbose=1&exclude=pong',
      '[+]ping ok\nwarn: some health checks cannot be excluded: no matches for "pong"\nhealthz check passed\n',
    ],
  ])('%s', async (path, text) => {
    const response = await served.get(path);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(await response.text()).toBe(text);
  });

  it('counts each check', async () => {
    await served.get('/healthz');
    await served.get('/healthz?exclude=ping');
    expect(checked).toEqual([['healthz', 'ping', true]]);
  });
});
