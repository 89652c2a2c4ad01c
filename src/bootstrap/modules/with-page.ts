import { byOwnName } from '../../adapters/http/by-own-name.js';
import type { Routes } from '../../adapters/http/router.js';
import { PageFiles } from '../../adapters/page/page-files.js';
import { pageRoutes } from '../../adapters/page/page-routes.js';
import type { CommandLine } from '../configuration/command-line.js';
import { servesPage } from '../configuration/page-setting.js';

/** What kube-proxy has, too, and answers whatever name a client calls it by. */
const KUBE_PROXYS = /^\/(?!debug\/)|^\/debug\/flags/;

/**
 * The routes of the metrics server, and the page if it is served. Those that are our own tell what the cluster has, to people with
 * browsers, too: they answer only who calls this node by its address or name.
 */
export function withPage(routes: Routes, { configuration, nodeName }: CommandLine): Routes {
  const own = Object.entries(routes).filter(([path]) => !KUBE_PROXYS.test(path));
  const page = servesPage(configuration) ? pageRoutes(new PageFiles()) : {};
  return { ...routes, ...byOwnName({ ...Object.fromEntries(own), ...page }, [nodeName]) };
}
