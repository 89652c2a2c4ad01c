import type { MigrationReport } from '../../../src/application/migration/migration-report.js';
import { CannotAskError } from '../../../src/adapters/cli/asking/cannot-ask-error.js';
import { NO_TERMINAL, PLUGIN } from '../../../src/adapters/cli/reader.js';
import { migrate } from '../../../src/bootstrap/migration/migrate.js';
import { different, equal } from '../../application/migration/cluster-in-memory.js';
import { writeKubeconfig } from '../../support/api-server/kubeconfig.js';
import { usePrinted } from '../../support/program/use-printed.js';
import { ClusterWithPods, installed } from './cluster-with-pods.js';
import { parseCommand } from '../../support/command-line.js';

let cluster: ClusterWithPods;
let kubeconfig: string;
const printed = usePrinted();
beforeEach(async () => {
  cluster = await ClusterWithPods.start(equal());
  kubeconfig = await writeKubeconfig(cluster.api);
  cluster.putKubeProxy('');
  cluster.putNode('n1', 'kube-proxy');
  cluster.putNode('n2', 'kube-proxy');
  for (const object of installed('kube-proxy-ts', 'iptables')) cluster.put(object);
});
afterEach(() => cluster.close());

function run(...args: readonly string[]): Promise<number> {
  const asked = parseCommand(
    ['migrate', ...args, '--kubeconfig', kubeconfig],
    {
      readFile: () => '',
      hostname: () => 'laptop',
    },
    { ...NO_TERMINAL, program: PLUGIN },
  );
  return migrate(asked);
}

it('a check prints one table, and changes nothing', async () => {
  expect(await run('--to', 'iptables', '--check')).toBe(0);
  expect(printed.stdout).toBe(
    [
      'NODE  PROGRAM     VERSION  MODE      KERNEL  IPTABLES   WOULD CHANGE',
      'n1    kube-proxy  v1.36.0  iptables  6.1.0   nft 1.8.9  nothing',
      'n2    kube-proxy  v1.36.0  iptables  6.1.0   nft 1.8.9  nothing',
      '',
    ].join('\n'),
  );
  expect(cluster.where).toEqual({ n1: 'kube-proxy', n2: 'kube-proxy' });
  const [{ metadata, spec } = {}] = cluster.lookers;
  expect(metadata!.labels).toEqual({ 'app.kubernetes.io/managed-by': 'kubeproxy-migrate' });
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
          '/usr/local/bin/kube-proxy',
          'inspect',
          '--plan',
          'iptables',
          '--output',
          'json',
          '--config=/var/lib/kube-proxy/config.conf',
          '--hostname-override=$(NODE_NAME)',
        ],
        securityContext: { capabilities: { drop: ['ALL'], add: ['NET_ADMIN', 'NET_RAW'] } },
      },
    ],
  });
  expect(cluster.pods.map(({ metadata: its }) => its!.name).filter((name) => /inspect/.test(name!))).toEqual(
    [],
  );
});

it('groups what differs by Service over nodes, with what is not accepted and what is missing', async () => {
  const known = [{ name: 'other-ports', sentence: 'packets to other ports …', classes: 4 }];
  const [family] = different.comparison!.families;
  cluster.looked = () => ({
    facts: {
      ...equal().facts,
      rules: [{ place: 'ipvs', family: 'IPv4', count: 3 }],
      unseen: ['no iptables-legacy'],
    },
    comparison: { ...different.comparison!, families: [{ ...family!, known }], schedulers: ['lc'] },
  });
  expect(await run('--to', 'nftables', '--check')).toBe(1);
  expect(printed.stdout.split('\n').slice(1)).toEqual([
    'n1    kube-proxy  v1.36.0  iptables  6.1.0   nft 1.8.9  3 virtual servers  differs for shop/web; known differences other-ports',
    'n2    kube-proxy  v1.36.0  iptables  6.1.0   nft 1.8.9  3 virtual servers  differs for shop/web; known differences other-ports',
    '  shop/web: 2 nodes: n1, n2',
    '    n1: a pod → 10.96.0.1:80/TCP',
    '      now:  refused',
    '      then: dropped',
    '    … 1 more; -o wide shows all',
    'known difference other-ports: packets to other ports … (n1, n2)',
    'not with mode nftables: the scheduler lc of Services: mode nftables chooses at random (n1, n2)',
    'note: no iptables-legacy (n1, n2)',
    expect.stringMatching(
      /^before nodes can be moved: no DaemonSet in the namespace kube-system runs kube-proxy-ts in mode nftables/,
    ),
    '  helm install kube-proxy-ts-nftables deploy/chart --namespace kube-system --set nameOverride=kube-proxy-ts-nftables,mode=nftables,nodeSelector.service-proxy=kube-proxy-ts-nftables',
    '',
  ]);
});

it('moves nodes with health checks, and says what it does', async () => {
  const healthy = ['--health-check', 'test "$NODE" = n1 -o "$NODE" = n2', '--health-check', 'true'];
  expect(await run('--to', 'iptables', ...healthy, '-o', 'json')).toBe(0);
  const { nodes, daemonSet } = JSON.parse(printed.stdout) as MigrationReport;
  expect([daemonSet, nodes.map(({ end }) => end)]).toEqual(['kube-proxy-ts', ['moved', 'moved']]);
  expect(cluster.where).toEqual({ n1: 'kube-proxy-ts', n2: 'kube-proxy-ts' });
  expect(printed.stderr).toContain('n1: kube-proxy has ended; its rules stay\nn1: kube-proxy-ts is ready\n');
  expect(printed.stderr).toContain('n2: healthy: true\n');
  expect(await run('--to', 'kube-proxy')).toBe(0);
  expect(cluster.where).toEqual({ n1: 'kube-proxy', n2: 'kube-proxy' });
});

it('goes back where a health check does not succeed, and says what it printed', async () => {
  const unhealthy = ['--health-check', 'echo no page; exit 7', '--timeout', '1'];
  expect(await run('--to', 'iptables', ...unhealthy)).toBe(1);
  expect(cluster.where).toEqual({ n1: 'kube-proxy', n2: 'kube-proxy' });
  expect(printed.stdout).toMatch(/^n1 .* nothing {7}went back\nn2 .* nothing {7}untouched\n/m);
  expect(printed.stdout).toContain(
    'went back: the health check "echo no page; exit 7" did not succeed within 1 s: it ended with 7: no page (n1)',
  );
});

it('at SIGINT deletes what it created, and the node goes back', async () => {
  cluster.looked = (_, command) => (command.includes('--moved') ? 'hangs' : equal());
  const running = run('--to', 'iptables');
  await new Promise<void>((resolve) => {
    const stop = cluster.api.store.subscribe(() => {
      if (cluster.where.n1 !== 'kube-proxy-ts' || cluster.lookers.length < 3) return;
      stop();
      resolve();
    });
  });
  process.emit('SIGINT');
  expect(await running).toBe(1);
  expect(cluster.where).toEqual({ n1: 'kube-proxy', n2: 'kube-proxy' });
  expect(printed.stdout).toContain('went back: interrupted (n1)');
  expect(cluster.pods.filter(({ metadata }) => /inspect/.test(metadata!.name!))).toEqual([]);
});

it('removes pods of a run that was killed', async () => {
  const labels = { 'app.kubernetes.io/managed-by': 'kubeproxy-migrate' };
  const pod = { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'left', namespace: 'kube-system', labels } };
  cluster.put({ ...pod, spec: { containers: [{ name: 'inspect' }] }, status: { phase: 'Failed' } });
  expect(await run('--to', 'iptables', '--check')).toBe(0);
  expect(cluster.pods.map(({ metadata }) => metadata!.name)).not.toContain('left');
});

it.each([
  [
    { log: 'E1126 it cannot reach the API server\n' },
    /not known: the pod that looks at n1 failed: E1126 it cannot reach the API server \(n1\)/,
  ],
  [{ log: '{\n  "facts": 1\n}\n' }, /the pod that looks at n1 has another version: facts is 1/],
])('tells why a node could not be looked at: %j', async (looked, message) => {
  cluster.looked = (node) => (node === 'n1' ? looked : equal());
  expect(await run('--to', 'iptables', '--check')).toBe(1);
  expect(printed.stdout).toMatch(message);
});

it('waits no longer for a look than it is told', async () => {
  cluster.looked = () => 'hangs';
  expect(await run('--to', 'iptables', '--check', '--timeout', '1', '--nodes', 'n2')).toBe(1);
  expect(printed.stdout).toContain('the pod that looks at n2 did not end within 1 s: it runs');
  expect(cluster.pods.filter(({ metadata }) => /inspect/.test(metadata!.name!))).toEqual([]);
});

it('looks with an image that is named, as kube-proxy, where this program is not installed', async () => {
  for (const kind of ['DaemonSet', 'ConfigMap'])
    cluster.api.store.remove(
      kind === 'DaemonSet' ? '/apis/apps/v1/daemonsets' : '/api/v1/configmaps',
      'kube-system',
      'kube-proxy-ts',
    );
  expect(await run('--to', 'iptables', '--check')).toBe(1);
  expect(printed.stderr).toContain('there is no image to look at nodes with; name one with --image');
  expect(await run('--to', 'iptables', '--check', '--image', 'registry.example/ours:1')).toBe(0);
  expect(cluster.lookers[0]!.spec).toMatchObject({
    serviceAccountName: 'kube-proxy',
    containers: [{ image: 'registry.example/ours:1' }],
  });
});

it('prints the commands that help where nodes cannot be moved', async () => {
  for (const object of installed('kube-proxy-ts-nftables', 'nftables')) cluster.put(object);
  expect(await run('--to', 'nftables')).toBe(1);
  expect(printed.stderr).toMatch(
    /^Error: from kube-proxy in mode iptables .*; take two moves:\n {2}kubectl kubeproxy migrate --to iptables\n {2}kubectl kubeproxy migrate --to nftables\n$/,
  );
});

it('reads settings of mode ipvs as the proxy does', async () => {
  const ipvs = { scheduler: 'lc', excludeCIDRs: ['10.9.0.0/16'], strictARP: true, tcpTimeout: '15m' };
  for (const object of installed('kube-proxy-ts-ipvs', 'ipvs', ipvs)) cluster.put(object);
  cluster.putNode('n3', 'kube-proxy-ts-ipvs');
  expect(await run('--to', 'iptables', '--check', '--nodes', 'n3')).toBe(1);
  expect(printed.stdout).toMatch(
    / IPVS .*\n.* schedulers lc, excludeCIDRs 10\.9\.0\.0\/16, strictARP, tcpTimeout: 15m0s /,
  );
  for (const text of [
    'not with mode iptables: tcpTimeout: 15m0s: ',
    'not with mode iptables: strictARP: ',
    'lacks ipvs.excludeCIDRs 10.9.0.0/16: it would remove virtual servers of others there (n3)',
  ])
    expect(printed.stdout).toContain(text);
});

it('ends with 3 where the API server refuses', async () => {
  cluster.api.clusterRole = { allows: () => false };
  await expect(run('--to', 'iptables', '--check')).rejects.toThrow(CannotAskError);
});
