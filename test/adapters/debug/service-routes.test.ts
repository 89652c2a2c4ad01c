import { serviceRoutes } from '../../../src/adapters/debug/service-routes.js';
import type { Explain } from '../../../src/application/use-cases/explain.js';
import { Served } from '../../support/http/served.js';

const explain = {
  overview: () => ({ families: [], rejected: ['Service a/b: no'] }),
  service: (service: string) => ({
    service,
    known: service === 'shop/cart',
    problems: service === 'shop/bad' ? ['Service shop/bad is left out'] : [],
    families: [],
  }),
} as unknown as Explain;
let served: Served;

beforeEach(async () => {
  served = await Served.start(serviceRoutes(explain, () => ({ idle: true, appliedEvents: 3 })));
});

afterEach(() => served.stop());

describe('serviceRoutes', () => {
  it('say how far the proxy has come', async () => {
    expect(await served.text('/debug/sync')).toBe('{"idle":true,"appliedEvents":3}');
  });

  it.each(['/debug/services', '/debug/services/'])('give an overview at %s', async (path) => {
    const response = await served.get(path);
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
    expect(await response.json()).toEqual(explain.overview());
  });

  it.each([
    ['shop/cart', 200],
    ['shop/bad', 200],
    ['shop/none', 404],
    ['shop', 404],
  ])('explain %s with status %i', async (service, status) => {
    const response = await served.get(`/debug/services/${service}`);
    expect([response.status, await response.json()]).toEqual([status, explain.service(service)]);
  });

  it('bear paths that are no text', async () => {
    expect((await served.get('/debug/services/%E0%A4%A')).status).toBe(404);
  });
});
