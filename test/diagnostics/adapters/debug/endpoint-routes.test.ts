import { endpointRoutes } from '../../../../src/diagnostics/adapters/debug/report-routes.js';
import type { FindEndpoints } from '../../../../src/diagnostics/application/status/list-services.js';
import { Served } from '../../../support/http/served.js';

it('answers with the Services whose endpoints have one of the parts', async () => {
  const asked: (readonly string[])[] = [];
  const matches = [{ service: 'shop/cart', endpoints: ['10.1.2.1:80'] }];
  const matching = async (texts: readonly string[]) => {
    asked.push(texts);
    return matches;
  };
  const served = await Served.start(endpointRoutes({ matching } as unknown as FindEndpoints));
  try {
    const response = await served.get('/debug/endpoints?part=10.1&part=&part=%3A80');
    expect([response.status, await response.json()]).toEqual([200, { matches }]);
    expect(asked).toEqual([['10.1', ':80']]);
  } finally {
    await served.stop();
  }
});
