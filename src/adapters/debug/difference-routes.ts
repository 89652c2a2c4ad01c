import type { Diff } from '../../application/difference/diff.js';
import { JSON_TYPE, respond, TEXT_TYPE } from '../http/plain-response.js';
import type { Routes } from '../http/router.js';

/** Our own: `/debug/diff` reads the kernel and shows what it has otherwise than desired; `?service=NAMESPACE/NAME` of one Service. */
export function differenceRoutes(diff: Diff): Routes {
  return {
    '/debug/diff': async ({ method, parameters }, response) => {
      if (method !== 'GET') return respond(response, 405, TEXT_TYPE, 'GET only\n');
      const report = await diff.report(parameters.get('service') ?? undefined);
      respond(response, 200, JSON_TYPE, JSON.stringify(report));
    },
  };
}
