import type { FindEndpoints } from '../../application/status/find-endpoints.js';
import type { EndpointMatches } from '../../application/status/service-row.js';
import { clientLeft, respondJson, type Routes } from '../../../adapters/http/router.js';

/** Our own: `/debug/endpoints?part=10.244.1.&part=:8080` shows which Services have endpoints with such parts of `ip:port`. */
export function endpointRoutes(endpoints: FindEndpoints): Routes {
  return {
    '/debug/endpoints': async ({ parameters }, response) => {
      const left = clientLeft(response);
      const matches = await endpoints.matching(parameters.getAll('part').filter(Boolean), left);
      if (!left.aborted) respondJson(response, 200, { matches } satisfies EndpointMatches);
    },
  };
}
