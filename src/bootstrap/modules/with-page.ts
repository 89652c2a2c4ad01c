import { byOwnName } from '../../adapters/http/by-own-name.js';
import { overLoopback, readOnly } from '../../adapters/http/restrictions.js';
import type { Routes } from '../../adapters/http/router.js';
import { PageFiles } from '../../adapters/page/page-files.js';
import { pageRoutes } from '../../adapters/page/page-routes.js';
import type { CommandLine } from '../configuration/command-line.js';
import { servesPage } from '../configuration/page-setting.js';

/** What kube-proxy has, too, and answers whatever name a client calls it by. */
const KUBE_PROXYS = /^\/(?!debug\/)|^\/debug\/flags/;

const OPENING = 'ask on the node or through kubectl port-forward, or open it with --debug-routes=true';

/**
 * The routes of the metrics server, and the page if it is served. Those that are our own tell what the cluster has, to people with
 * browsers, too: they are only read, over loopback unless `debugRoutes` opens them, by who calls this node by its address or name.
 */
export function withPage(routes: Routes, { configuration, nodeName }: CommandLine): Routes {
  const own = Object.entries(routes).filter(([path]) => !KUBE_PROXYS.test(path));
  const page = servesPage(configuration) ? pageRoutes(new PageFiles()) : {};
  const named = byOwnName({ ...readOnly(Object.fromEntries(own)), ...page }, [nodeName]);
  return { ...routes, ...(configuration.debugRoutes ? named : overLoopback(named, OPENING)) };
}
