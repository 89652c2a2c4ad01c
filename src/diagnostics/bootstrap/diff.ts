import type { Logger } from '../../application/ports/logger.js';
import type { Asked } from './read-objects.js';

/** Prints the difference between the kernel and a plan, or the desired rules of the proxy running on this node. */
export async function diff(asked: Asked<'diff'>, logger: Logger): Promise<number> {
  if (asked.request.isPlanned || asked.manifests.length > 0)
    return (await import('./plan.js')).plannedDiff(asked, logger);
  return (await import('../adapters/cli/asking/commands.js')).diff(asked);
}
