import type { Routes } from '../../adapters/http/router.js';
import type { ProxyParts } from '../../bootstrap/parts/proxy-parts.js';

/** The subcommands of the program. */
export const commands = () => import('./commands.js');

/**
 * The routes under `/debug/`, and the page.
 * @param startTime of the proxy, in milliseconds since the epoch
 */
export async function debugRoutes(parts: ProxyParts, startTime: number): Promise<Routes> {
  const { debugRoutes: routes } = await import('./debug-routes.js');
  return routes(parts, startTime);
}
