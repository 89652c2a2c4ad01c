import { differenceAnswer } from '../../../application/difference/difference-report.js';
import { historyAnswer } from '../../../../application/status/change-entry.js';
import { servicesAnswer } from '../../../application/status/service-row.js';
import { anything, fields } from '../../../../domain/shape.js';
import { statusAnswer } from '../../../application/status/proxy-status.js';
import { timeText } from '../../../../domain/model/text.js';
import type { NodeBundle } from '../../../application/cluster/node-bundle.js';
import { CannotAskError } from '../asking/cannot-ask-error.js';
import { COMPARISON, type RunningProxy } from '../asking/running-proxy.js';

/** The name is kube-proxy's. */
const configuration = fields({ 'kubeproxy.config.k8s.io': anything });

/**
 * Asks the proxy running on this node everything, one after the other.
 * @throws CannotAskError when it does not answer how it is; other parts may be missing
 */
export async function collectBundle(proxy: RunningProxy, now: number): Promise<NodeBundle> {
  const status = await proxy.ask('/debug/status', statusAnswer);
  return {
    node: status.node,
    version: status.versions.program,
    collectedAt: timeText(now),
    parts: {
      status,
      services: await partOf(proxy.ask('/debug/services', servicesAnswer)),
      diff: await partOf(proxy.ask('/debug/diff', differenceAnswer, COMPARISON)),
      history: await partOf(proxy.ask('/debug/history', historyAnswer)),
      configz: await partOf(proxy.ask('/configz', configuration)),
      metrics: await partOf(proxy.text('/metrics')),
    },
  };
}

async function partOf(answer: Promise<unknown>): Promise<unknown> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof CannotAskError) return { error: error.message };
    throw error;
  }
}
