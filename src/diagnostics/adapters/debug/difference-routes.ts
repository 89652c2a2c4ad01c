import type { Diff } from '../../application/difference/diff.js';
import { clientLeft, respondJson, type Routes } from '../../../adapters/http/router.js';

/** Our own: `/debug/diff` reads the kernel and shows what it has otherwise than desired; with `?service=NAMESPACE/NAME`, as often as wanted, of these Services. */
export function differenceRoutes(diff: Diff): Routes {
  return {
    '/debug/diff': async ({ parameters }, response) => {
      const left = clientLeft(response);
      try {
        respondJson(response, 200, await diff.report(parameters.getAll('service'), left));
      } catch (error) {
        if (!left.aborted) throw error;
      }
    },
  };
}
