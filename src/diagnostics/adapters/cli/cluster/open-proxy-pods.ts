import { ComparisonPods } from '../../kubernetes/comparison-pods.js';
import { PodExec } from '../../kubernetes/pod-exec.js';
import { ProxyPods } from '../../kubernetes/proxy-pods.js';
import { SystemClock } from '../../../../adapters/process/system-clock.js';
import type { NodeProxies } from '../../../application/ports/node-proxies.js';
import type { ComparisonQuestion } from '../arguments/question.js';
import type { Asked } from '../command-line/subcommands.js';
import { userApiClient } from '../../kubernetes/user-cluster.js';

/** The proxies of the user's cluster. Throws as `userApiClient`. */
export async function openProxyPods(asked: Asked<'cluster'>): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector, context } = asked.request.access;
  const clock = new SystemClock();
  const client = await userApiClient(asked, clock, context);
  return new ProxyPods(client, new PodExec(client, clock), { namespace, selector });
}

/** Nodes that are compared, each by a pod made for it. Throws as `userApiClient`. @param signal ends the pods */
export async function openComparisonPods(
  asked: Asked<'cluster'>,
  { nodes, nodeSelector, image }: ComparisonQuestion,
  signal: AbortSignal,
): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector, context } = asked.request.access;
  const { mode } = asked.configuration;
  const clock = new SystemClock();
  const client = await userApiClient(asked, clock, context);
  return new ComparisonPods(client, clock, { namespace, selector, mode, nodes, nodeSelector, image }, signal);
}
