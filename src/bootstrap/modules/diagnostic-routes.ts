import {
  byOwnName,
  respond,
  TEXT_TYPE,
  route,
  type Handler,
  type Routes,
  overLoopback,
} from '../../adapters/http/router.js';
import { servesPage } from '../configuration/page-setting.js';
import type { ProxyParts } from '../parts/proxy-parts.js';

const OPENING = 'query it on the node or through kubectl port-forward, or open it with --debug-routes=true';

type MountedParts = Pick<ProxyParts, 'commandLine' | 'logger' | 'clock'>;

/**
 * The routes of the diagnostics, which kube-proxy does not have. They report what the cluster has, to browsers, too: so only over
 * loopback unless `debugRoutes` opens them, and only to clients that call this node by its address or name. The diagnostics are
 * loaded when a client that may have it requests the first of them.
 * @param load makes them of the parts of the proxy and the time of its start, in milliseconds since the epoch
 */
export function diagnosticRoutes<Parts extends MountedParts>(
  parts: Parts,
  load: (parts: Parts, startTime: number) => Promise<Routes>,
): Routes {
  const { commandLine, logger, clock } = parts;
  const { configuration, nodeName } = commandLine;
  const startTime = clock.now();
  let loaded: Promise<ReturnType<typeof route>> | undefined;
  const loading: Handler = async ({ request }, response) => {
    loaded ??= load(parts, startTime).then((routes) => route(routes, logger));
    loaded.catch(() => (loaded = undefined));
    (await loaded)(request, response);
  };
  const named = byOwnName(
    { '/debug/': loading, ...(servesPage(configuration) && { '/': rootOnly(loading), '/page/': loading }) },
    [nodeName],
  );
  return configuration.debugRoutes ? named : overLoopback(named, OPENING);
}

/** The router has `/` handle everything that nothing else handles. */
function rootOnly(handler: Handler): Handler {
  return (query, response) =>
    query.path === '/' ? handler(query, response) : respond(response, 404, TEXT_TYPE, '404 page not found\n');
}
