import { differenceRoutes } from '../adapters/debug/difference-routes.js';
import { trafficRoutes } from '../adapters/debug/traffic-routes.js';
import { readOnly, type Routes } from '../../adapters/http/router.js';
import { PageFiles } from '../adapters/page/page-files.js';
import { pageRoutes } from '../adapters/page/page-routes.js';
import { Diff } from '../application/difference/diff.js';
import { modeInForce } from '../../bootstrap/configuration/proxy-configuration.js';
import { localhostLookup } from '../../bootstrap/family/served-family.js';
import { reportRoutes } from './report-routes.js';
import { traceRoutes } from './trace-routes.js';
import { explainAddress } from './tracing.js';
import type { ProxyParts } from '../../bootstrap/parts/proxy-parts.js';

/** Everything that the proxy reports beyond what kube-proxy does: the routes under `/debug/`, and the page. */
export function debugRoutes(parts: ProxyParts, startTime: number): Routes {
  const loops = parts.served.map(({ loop }) => loop);
  const addresses = explainAddress(parts, loops, parts.ejection?.asideTimes, localhostLookup(parts.served));
  return {
    ...readOnly({
      ...reportRoutes(parts, addresses, startTime),
      ...traceRoutes(parts),
      ...trafficRoutes(parts.trafficWatchers),
      ...differenceRoutes(new Diff(modeInForce(parts.commandLine.configuration), loops)),
    }),
    ...pageRoutes(new PageFiles()),
  };
}
