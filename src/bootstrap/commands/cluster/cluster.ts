import type { Asked } from '../../configuration/command-line.js';

/**
 * Asks the proxies of all nodes of a cluster and prints what they say. Changes nothing. What it needs, WebSocket among it, is
 * loaded only here: a proxy that starts does without.
 * @throws CannotAskError when no proxy can be found
 */
export async function cluster(asked: Asked<'cluster'>): Promise<number> {
  const { askCluster } = await import('./ask-cluster.js');
  return askCluster(asked);
}
