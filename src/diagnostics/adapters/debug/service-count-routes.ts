import type { CountServices } from '../../application/status/count-services.js';
import { clientLeft, respondJson, type Routes } from '../../../adapters/http/router.js';

/** Our own: `/debug/service-counts` tells how many Services, frontends and endpoints somebody should look at. */
export function serviceCountRoutes(services: CountServices): Routes {
  return {
    '/debug/service-counts': async (_, response) => {
      const left = clientLeft(response);
      const counts = await services.counts(left);
      if (!left.aborted) respondJson(response, 200, counts);
    },
  };
}
