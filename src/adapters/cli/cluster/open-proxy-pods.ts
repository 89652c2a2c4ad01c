import { ApiClient } from '../../kubernetes/client/api-client.js';
import { userKubeconfig } from '../../kubernetes/connection/user-kubeconfig.js';
import { PodExec } from '../../kubernetes/exec/pod-exec.js';
import { ProxyPods } from '../../kubernetes/exec/proxy-pods.js';
import { SystemClock } from '../../process/system-clock.js';
import type { Clock } from '../../../application/ports/clock.js';
import type { NodeProxies } from '../../../application/ports/node-proxies.js';
import type { Asked } from '../command-line/subcommands.js';
import { CannotAskError } from '../asking/cannot-ask-error.js';

/** An exec plugin may ask a person to log in. Milliseconds. */
const PLUGIN = 120_000;

/** The client of the cluster's API server. Throws as `openProxyPods`. */
export async function openClient(
  { master, configuration, request }: Asked<'cluster'> | Asked<'migrate'>,
  clock: Clock,
): Promise<ApiClient> {
  const { context } = request.access;
  const kubeconfig = configuration.clientConnection.kubeconfig || (await userKubeconfig(context));
  if (!kubeconfig && !master && !process.env.KUBERNETES_SERVICE_HOST)
    throw new CannotAskError(
      'there is no kubeconfig, neither in KUBECONFIG nor ~/.kube/config; name one with --kubeconfig',
    );
  return new ApiClient(
    { ...(kubeconfig && { kubeconfig }), ...(context && { context }), ...(master && { master }) },
    clock,
    { timeouts: { plugin: PLUGIN } },
  );
}

/**
 * The proxies of the cluster that `--kubeconfig`, KUBECONFIG, `~/.kube/config` or the pod around this process names.
 * @throws KubeconfigError when the files do not name a cluster, CannotAskError without any
 */
export async function openProxyPods(asked: Asked<'cluster'>): Promise<NodeProxies> {
  const { proxyNamespace: namespace, selector } = asked.request.access;
  const clock = new SystemClock();
  const client = await openClient(asked, clock);
  return new ProxyPods(client, new PodExec(client, clock), { namespace, selector });
}
