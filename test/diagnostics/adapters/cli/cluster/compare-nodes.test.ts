import { thisVersion } from '../../../../../src/bootstrap/version.js';
import type { Packet } from '../../../../../src/diagnostics/domain/trace/trace.js';
import { QueryError } from '../../../../../src/diagnostics/adapters/cli/running-proxy.js';
import { queryCluster } from '../../../../../src/diagnostics/adapters/cli/cluster/query-cluster.js';
import { NO_TERMINAL, PLUGIN } from '../../../../../src/adapters/cli/reader.js';
import { writeKubeconfig } from '../../../../support/api-server/kubeconfig.js';
import { parseCommand } from '../../../../support/command-line.js';
import { usePrinted } from '../../../../support/program/use-printed.js';
import { ClusterWithPods, equal, installed, type NodeComparison } from './cluster-with-pods.js';

let cluster: ClusterWithPods;
let kubeconfig: string;
const printed = usePrinted();
beforeEach(async () => {
  cluster = await ClusterWithPods.start();
  kubeconfig = await writeKubeconfig(cluster.api);
  cluster.putKubeProxy();
  cluster.putNode('n1');
  cluster.putNode('n2', 'b');
  cluster.put(installed('kube-proxy-ts'));
});
afterEach(() => cluster.close());

function run(mode: string, ...args: readonly string[]): Promise<number> {
  const asked = parseCommand(
    ['compare', '--proxy-mode', mode, ...args, '--kubeconfig', kubeconfig],
    { readFile: () => '', hostname: () => 'laptop' },
    { ...NO_TERMINAL, program: PLUGIN },
  );
  return queryCluster(asked, thisVersion('v1.37.0'));
}

const comparers = (): readonly string[] =>
  cluster.pods.flatMap(({ metadata }) => metadata!.name!.match(/^kubeproxy-compare-.*/) ?? []);

const packet: Packet = {
  family: 'IPv4',
  inputInterface: undefined,
  source: '10.244.1.5',
  destination: '10.96.0.1',
  destinationPort: 80,
  protocol: 'TCP',
};
const otherPorts = { name: 'other-ports', link: 'docs/install/comparing.md#other-ports', classes: 1 };
const difference = {
  ...{ service: 'shop/web', packet, sender: 'a pod (10.244.1.5)', classes: 1 },
  outcomes: ['reject', 'drop'],
  paths: [[], []],
};
const [family] = equal.families;
const different: NodeComparison = {
  ...equal,
  nodeRules: { ...equal.nodeRules, rules: [{ place: 'ipvs', family: 'IPv4', count: 3 }], schedulers: ['lc'] },
  families: [
    {
      ...family!,
      knownDifferences: [{ ...otherPorts, sentence: 'packets to other ports …', expected: false }],
      differences: [
        difference,
        { ...difference, knownDifference: 'other-ports' },
        { ...difference, sender: 'the node' },
      ],
    },
  ],
  notes: ['IPv6 is not compared'],
};

it('prints one table, and leaves nothing behind', async () => {
  expect(await run('nftables', '--expect', 'other-ports')).toBe(0);
  expect(printed.stdout).toBe(
    [
      'NODE  KERNEL  IPTABLES   RULES  WOULD CHANGE',
      'n1    6.1.0   nft 1.8.9  none   nothing',
      'n2    6.1.0   nft 1.8.9  none   nothing',
      '',
    ].join('\n'),
  );
  const [{ metadata, spec } = {}] = cluster.comparers;
  expect(metadata!.labels).toEqual({ 'app.kubernetes.io/managed-by': 'kubeproxy-compare' });
  expect(spec).toMatchObject({
    hostNetwork: true,
    restartPolicy: 'Never',
    activeDeadlineSeconds: 120,
    serviceAccountName: 'kube-proxy-ts',
    tolerations: [{ operator: 'Exists' }],
    volumes: [{ name: 'config', configMap: { name: 'kube-proxy-ts' } }],
    containers: [
      {
        image: 'registry.example/kube-proxy-ts:0.1.0',
        command: [
          ...['/usr/local/bin/kube-proxy', 'compare', '--kernel', '--proxies-only', '--limit', '200'],
          ...['--expect', 'other-ports', '-o', 'json', '--plan', 'nftables'],
          ...['--config=/var/lib/kube-proxy/config.conf', '--hostname-override=$(NODE_NAME)'],
        ],
        volumeMounts: [{ name: 'config', mountPath: '/var/lib/kube-proxy' }],
        securityContext: { capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] } },
      },
    ],
  });
  expect(comparers()).toEqual([]);
});

it('groups differences by Service over nodes', async () => {
  cluster.compared = () => different;
  expect(await run('nftables')).toBe(1);
  expect(printed.stdout.split('\n').slice(1)).toEqual([
    'n1    6.1.0   nft 1.8.9  ipvs   differs for shop/web; known differences other-ports',
    'n2    6.1.0   nft 1.8.9  ipvs   differs for shop/web; known differences other-ports',
    '  shop/web: 2 nodes: n1, n2',
    '    n1: a pod (10.244.1.5) → 10.96.0.1:80/TCP',
    '      now:  reject',
    '      then: drop',
    '    … 3 more; -o wide shows all',
    'known difference other-ports: packets to other ports … (n1, n2)',
    'schedulers in use: lc (n1, n2)',
    'note: IPv6 is not compared (n1, n2)',
    '',
  ]);
});

it('accepts known differences, and ends with 1 where rules are not understood', async () => {
  const known = [{ ...otherPorts, sentence: '…', expected: true }];
  cluster.compared = () => ({ ...equal, families: [{ ...family!, knownDifferences: known }] });
  expect(await run('nftables')).toBe(0);
  expect(printed.stdout).toContain('only expected differences');
  cluster.compared = () => ({
    ...equal,
    families: [{ ...family!, unknowns: [{ rule: '-m u32', classes: 0 }] }],
  });
  expect(await run('nftables')).toBe(1);
  expect(printed.stdout).toContain('not understood: -m u32 (n1, n2)');
});

it('names the nodes where the mode cannot run', async () => {
  cluster.compared = (node) => (node === 'n1' ? { ...equal, obstacle: 'Linux 4.19 is too old' } : equal);
  expect(await run('nftables', '-o', 'json')).toBe(1);
  const { nodes } = JSON.parse(printed.stdout) as { nodes: readonly { result: string; obstacle?: string }[] };
  expect(nodes.map(({ result, obstacle }) => [result, obstacle])).toEqual([
    ['different', 'Linux 4.19 is too old'],
    ['equal', undefined],
  ]);
});

it('compares the nodes that are named, or have a label', async () => {
  expect(await run('nftables', 'n2')).toBe(0);
  expect(await run('nftables', '--node-selector', 'pool=a')).toBe(0);
  expect(cluster.comparers.map(({ spec }) => spec!.nodeName)).toEqual(['n2', 'n1']);
  await expect(run('nftables', 'n3')).rejects.toThrow('there is no such node that runs Linux: n3');
});

it('deletes pods at SIGINT', async () => {
  cluster.compared = () => 'hangs';
  const running = run('nftables', '--parallel', '1');
  await new Promise<void>((resolve) => {
    const stop = cluster.api.store.subscribe(() => {
      if (cluster.comparers.length < 1) return;
      stop();
      resolve();
    });
  });
  process.emit('SIGINT');
  expect(await running).toBe(3);
  expect(printed.stdout).toContain('not reachable: n1, n2 (interrupted)');
  expect([cluster.comparers.length, comparers()]).toEqual([1, []]);
});

it('removes pods of a run that was killed', async () => {
  const labels = { 'app.kubernetes.io/managed-by': 'kubeproxy-compare' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'left', namespace: 'kube-system', labels } };
  cluster.put({ ...pod, spec: { containers: [{ name: 'compare' }] }, status: { phase: 'Failed' } });
  expect(await run('nftables')).toBe(0);
  expect(cluster.pods.map(({ metadata }) => metadata!.name)).not.toContain('left');
});

it.each([
  [
    { log: 'E1126 it cannot reach the API server\n' },
    'not reachable: n1 (E1126 it cannot reach the API server)',
  ],
  [
    { log: '{\n  "nodeRules": 1\n}\n' },
    'not reachable: n1 (its answer is not that of a proxy: nodeRules is 1',
  ],
])('reports a node that could not be compared: %j', async (compared, message) => {
  cluster.compared = (node) => (node === 'n1' ? compared : equal);
  expect(await run('iptables')).toBe(1);
  expect(printed.stdout).toContain(message);
});

it('waits no longer for a node than the timeout', async () => {
  cluster.compared = () => 'hangs';
  expect(await run('iptables', '--request-timeout', '1s', 'n2')).toBe(3);
  expect(printed.stdout).toMatch(/not reachable: n2 \(the pod \S+ did not end within 1 s: it runs\)/);
  expect(comparers()).toEqual([]);
});

it('uses the DaemonSet of the mode, and kube-proxy with --image where this program is not installed', async () => {
  cluster.put(installed('kube-proxy-ts-nftables'));
  expect(await run('nftables', 'n1')).toBe(0);
  expect(cluster.comparers[0]!.spec!.serviceAccountName).toBe('kube-proxy-ts-nftables');
  for (const name of ['kube-proxy-ts', 'kube-proxy-ts-nftables'])
    cluster.api.store.remove('/apis/apps/v1/daemonsets', 'kube-system', name);
  await expect(run('nftables')).rejects.toThrow('name it with --image');
  expect(await run('nftables', 'n1', '--image', 'registry.example/ours:1')).toBe(0);
  expect(cluster.comparers[1]!.spec).toMatchObject({
    serviceAccountName: 'kube-proxy',
    containers: [{ image: 'registry.example/ours:1' }],
  });
});

it.each(['', 'auto', 'userspace'])('takes no mode "%s"', async (mode) => {
  await expect(run(mode)).rejects.toThrow('compare takes --proxy-mode iptables, ipvs, nftables');
});

it('ends with 3 where the API server rejects requests', async () => {
  cluster.api.clusterRole = { allows: () => false };
  await expect(run('iptables')).rejects.toThrow(QueryError);
});
