import { ApiClient } from '../../../../src/adapters/kubernetes/client/api-client.js';
import { ApiCluster } from '../../../../src/adapters/kubernetes/migration/api-cluster.js';
import { DaemonSets } from '../../../../src/adapters/kubernetes/migration/daemon-sets.js';
import { SystemClock } from '../../../../src/adapters/process/system-clock.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';

const options = { namespace: 'kube-system', selector: 'k8s-app=kube-proxy' };
const { signal } = new AbortController();

let api: StandInApiServer;
let cluster: ApiCluster;
let client: ApiClient;
beforeEach(async () => {
  api = await StandInApiServer.start();
  api.clusterRole = undefined;
  client = new ApiClient({ kubeconfig: await writeKubeconfig(api) }, new SystemClock());
  const sets = new DaemonSets(client, options, () => ({ mode: '', ipvs: { timeouts: [] } }));
  cluster = new ApiCluster(client, sets, options);
});
afterEach(async () => {
  client.close();
  await api.close();
});

function putPod(
  name: string,
  node: string,
  { ready = true, owner = 'kube-proxy', ending = false } = {},
): void {
  api.put({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'kube-system',
      labels: { 'k8s-app': 'kube-proxy' },
      ...(owner && {
        ownerReferences: [{ apiVersion: 'apps/v1', kind: 'DaemonSet', name: owner, uid: 'u' }],
      }),
      ...(ending && { deletionTimestamp: '2026-11-26T00:00:00Z' }),
    },
    spec: { nodeName: node, containers: [{ name: 'kube-proxy', image: 'x' }] },
    status: {
      phase: 'Running',
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }],
      containerStatuses: [{ name: 'kube-proxy', state: { running: {} } }],
    },
  });
}

it('knows pods by their DaemonSet; one that is about to end is not ready', async () => {
  putPod('a', 'n1');
  putPod('b', 'n2', { ending: true });
  putPod('c', 'n2', { ready: false, owner: 'second' });
  putPod('d', 'n2', { owner: '' });
  expect(await cluster.pods(signal)).toEqual([
    { name: 'a', node: 'n1', daemonSet: 'kube-proxy', isReady: true, state: 'it runs, and is not ready' },
    { name: 'b', node: 'n2', daemonSet: 'kube-proxy', isReady: false, state: 'it is about to end' },
    { name: 'c', node: 'n2', daemonSet: 'second', isReady: false, state: 'it runs, and is not ready' },
  ]);
  expect((await cluster.pods(signal, 'n1')).map(({ name }) => name)).toEqual(['a']);
});

it('lists Linux nodes by name, node-2 before node-10, and labels one, or takes the label away', async () => {
  for (const name of ['node-10', 'node-2'])
    api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name, labels: { kept: 'yes' } } });
  const labels = { 'kubernetes.io/os': 'windows' };
  api.put({ apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-3', labels } });
  await cluster.label('node-2', 'service-proxy', 'none', signal);
  expect(await cluster.nodes(signal)).toEqual([
    { name: 'node-2', labels: { kept: 'yes', 'service-proxy': 'none' } },
    { name: 'node-10', labels: { kept: 'yes' } },
  ]);
  await cluster.label('node-2', 'service-proxy', undefined, signal);
  expect((await cluster.nodes(signal))[0]!.labels).toEqual({ kept: 'yes' });
});
