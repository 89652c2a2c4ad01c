import { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.js';
import { PodExec } from '../../../../src/diagnostics/adapters/kubernetes/pod-exec.js';
import { ProxyPods } from '../../../../src/diagnostics/adapters/kubernetes/proxy-pods.js';
import { SystemClock } from '../../../../src/adapters/process/system-clock.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { putNodes } from '../../../support/api-server/simulated-nodes.js';

it('finds the proxies of more nodes than a page holds', async () => {
  const api = await StandInApiServer.start();
  api.clusterRole = undefined;
  putNodes(
    api,
    Array.from({ length: 1001 }, (_, index) => ({ name: `node-${index}` })),
  );
  const clock = new SystemClock();
  const client = new ApiClient({ kubeconfig: await writeKubeconfig(api) }, clock);
  const options = { namespace: 'kube-system', selector: 'k8s-app=kube-proxy', timeout: 1_000 };
  const { proxies, unknown } = await new ProxyPods(client, new PodExec(client, clock), options).list();
  expect(new Set(proxies.map(({ node }) => node)).size).toBe(1001);
  expect(unknown).toEqual([]);
  expect(api.requestsOf('list', '/api/v1/namespaces/kube-system/pods')).toHaveLength(3);
  client.close();
  await api.close();
});
