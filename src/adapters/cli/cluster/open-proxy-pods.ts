import { PodExec } from '../../kubernetes/exec/pod-exec.js';
import { ProxyPods } from '../../kubernetes/exec/proxy-pods.js';
import { SystemClock } from '../../process/system-clock.js';
import type { NodeProxies } from '../../../application/ports/node-proxies.js';
import type { Asked } from '../command-line/subcommands.js';
import { userApiClient } from './user-api-client.js';

/** The proxies of the user's cluster. Throws as `userApiClient`. */
export async function openProxyPods(asked: Asked<'cluster'>): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector, context } = asked.request.access;
  const clock = new SystemClock();
  const client = await userApiClient(asked, clock, context);
  return new ProxyPods(client, new PodExec(client, clock), { namespace, selector });
}
