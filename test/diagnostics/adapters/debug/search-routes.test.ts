import { searchRoutes } from '../../../../src/diagnostics/adapters/debug/report-routes.js';
import type { SearchServices } from '../../../../src/diagnostics/application/status/search-services.js';
import type { ServiceSearch } from '../../../../src/diagnostics/application/status/service-row.js';
import { Served } from '../../../support/http/served.js';

it.each([
  ['', { text: '', problems: false, limit: 200 }],
  ['?text=shop%2Fweb&problems=true&limit=5', { text: 'shop/web', problems: true, limit: 5 }],
  ['?limit=many', { text: '', problems: false, limit: 200 }],
])('the search %j is for %j', async (parameters, expected) => {
  const searches: ServiceSearch[] = [];
  const search = async (one: ServiceSearch) => {
    searches.push(one);
    return { services: [], total: 0 };
  };
  const served = await Served.start(searchRoutes({ search } as unknown as SearchServices));
  try {
    const response = await served.get(`/debug/search${parameters}`);
    expect([response.status, await response.json()]).toEqual([200, { services: [], total: 0 }]);
    expect(searches).toEqual([expected]);
  } finally {
    await served.stop();
  }
});
