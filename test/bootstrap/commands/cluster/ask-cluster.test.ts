import { jest } from '@jest/globals';
import type { ClusterStatus } from '../../../../src/application/cluster/cluster-status.js';
import { askCluster } from '../../../../src/bootstrap/commands/cluster/ask-cluster.js';
import { parseCommandLine, type Asked } from '../../../../src/bootstrap/configuration/command-line.js';
import { StandInApiServer } from '../../../support/api-server/api-server.js';
import { makeCertificates, type Certificates } from '../../../support/api-server/certificates.js';
import type { ContainerCommand, Executed } from '../../../support/api-server/container-commands.js';
import { writeKubeconfig } from '../../../support/api-server/kubeconfig.js';
import { putNodes } from '../../../support/api-server/simulated-nodes.js';
import { until } from '../../../support/until.js';
import { explanationOf, portOf, statusOf } from '../../../application/cluster/samples.js';

/** Milliseconds that a node may take here: no test may fail because the machine is slow. */
let timeout: number;

let certificates: Certificates;
let api: StandInApiServer;
let kubeconfig: string;
let stdout: string;
let stderr: string;

beforeAll(async () => {
  certificates = await makeCertificates();
});
beforeEach(async () => {
  api = await StandInApiServer.start(certificates);
  api.clusterRole = undefined;
  kubeconfig = await writeKubeconfig(api);
  stdout = stderr = '';
  timeout = 60_000;
  jest.spyOn(process.stdout, 'write').mockImplementation((text) => Boolean((stdout += String(text))));
  jest.spyOn(process.stderr, 'write').mockImplementation((text) => Boolean((stderr += String(text))));
});
afterEach(async () => {
  jest.restoreAllMocks();
  await api.close();
});

const names = Array.from({ length: 50 }, (_, index) => `node-${index + 1}`);
const prints = (value: unknown, exitCode = 0): Executed => ({ exitCode, stdout: JSON.stringify(value) });

/** Runs `kubeproxy cluster …` and answers its exit code. */
function cluster(...args: readonly string[]): Promise<number> {
  const asked = parseCommandLine(['cluster', ...args, '--kubeconfig', kubeconfig], {
    readFile: () => '',
    hostname: () => 'laptop',
  });
  return askCluster(asked as Asked<'cluster'>, timeout);
}

/** What a node answers, by its name; the others are good. */
function answering(answers: Readonly<Record<string, Executed | Promise<Executed>>>, usual: Executed): void {
  api.containers.run = ({ pod }: ContainerCommand) => answers[pod.replace('kube-proxy-', '')] ?? usual;
}

describe('status', () => {
  const troubled = {
    'node-7': prints(statusOf({ state: 'degraded', failing: 2, drift: 3 }), 1),
    'node-12': prints(statusOf({ state: 'good', lag: 4.21 })),
    'node-30': prints(statusOf({ state: 'not-serving' }), 2),
  };

  it('shows one line a node, problems first', async () => {
    putNodes(
      api,
      names.map((name) => ({ name })),
    );
    answering(troubled, prints(statusOf({})));
    expect(await cluster('status')).toBe(2);
    const lines = stdout.split('\n');
    expect(lines.slice(0, 6)).toEqual([
      'NODE     STATE        VERSION  MODE      IN SYNC  LAG    FAILING  DRIFT',
      'node-30  not-serving  0.1.0    nftables  yes      -      0        0',
      'node-7   degraded     0.1.0    nftables  yes      -      2        3',
      'node-12  good         0.1.0    nftables  no       4.2 s  0        0',
      'node-1   good         0.1.0    nftables  yes      -      0        0',
      'node-2   good         0.1.0    nftables  yes      -      0        0',
    ]);
    expect(lines).toHaveLength(52);
  });

  it('says which nodes did not answer, and why', async () => {
    const states = [{ name: 'kube-proxy', state: { waiting: { reason: 'CrashLoopBackOff' } } }];
    putNodes(api, [
      ...names.map((name) => ({ name })),
      { name: 'bare', pod: undefined },
      { name: 'crashing', pod: { status: { containerStatuses: states } } },
    ]);
    answering(
      {
        'node-4': { refusal: 403, reason: 'Forbidden', message: 'you may not exec' },
        'node-5': { refusal: 403, reason: 'Forbidden', message: 'you may not exec' },
        'node-6': { failure: 'exec: "/usr/local/bin/kube-proxy": executable file not found in $PATH' },
        'node-8': { exitCode: 1, stderr: "Error: unknown shorthand flag: 'o' in -o\n" },
        'node-9': { exitCode: 3, stderr: 'W1123 \nError: no proxy answers at http://127.0.0.1:10249\n' },
        'node-10': 'broken',
      },
      prints(statusOf({})),
    );
    expect(await cluster('status', '-o', 'json')).toBe(2);
    const { nodes, silent } = JSON.parse(stdout) as ClusterStatus;
    expect(nodes).toHaveLength(44);
    expect(silent).toEqual([
      { node: 'bare', silence: 'absent', reason: 'no pod of a proxy is on this node' },
      {
        node: 'crashing',
        silence: 'not-running',
        reason: 'the pod kube-proxy-crashing does not run: CrashLoopBackOff',
      },
      { node: 'node-4', silence: 'refused', reason: 'exec refused: 403 Forbidden: you may not exec' },
      { node: 'node-5', silence: 'refused', reason: 'exec refused: 403 Forbidden: you may not exec' },
      {
        node: 'node-6',
        silence: 'another-image',
        reason: expect.stringMatching(/no such program in the image registry\.example.*not found in \$PATH/),
      },
      {
        node: 'node-8',
        silence: 'another-image',
        reason:
          "the image registry.example/kube-proxy-ts:0.1.0 does not understand: Error: unknown shorthand flag: 'o' in -o",
      },
      { node: 'node-9', silence: 'failed', reason: 'Error: no proxy answers at http://127.0.0.1:10249' },
      { node: 'node-10', silence: 'failed', reason: expect.stringContaining('ended before the command did') },
    ]);
  });

  it('lists nodes that say the same in one line', async () => {
    putNodes(
      api,
      names.slice(0, 8).map((name) => ({ name })),
    );
    const refused: Executed = { refusal: 403, reason: 'Forbidden', message: 'no' };
    answering({ 'node-1': prints(statusOf({})) }, refused);
    expect(await cluster('status')).toBe(2);
    expect(stdout.trimEnd().split('\n').at(-1)).toBe(
      'no answer: node-2, node-3, node-4, node-5, node-6 and 2 more (exec refused: 403 Forbidden: no)',
    );
  });

  it.each([
    [0, 'good'],
    [1, 'degraded'],
    [2, 'not-serving'],
  ] as const)('ends with %d when the worst node is %s', async (code, state) => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
    answering({ 'node-2': prints(statusOf({ state }), code) }, prints(statusOf({})));
    expect(await cluster('status')).toBe(code);
  });

  it('ends with 3 when nobody answers', async () => {
    putNodes(api, [{ name: 'node-1' }]);
    answering({}, 'broken');
    expect(await cluster('status')).toBe(3);
    expect(stdout).toContain('no answer: node-1');
  });

  it('does not wait for a node that hangs', async () => {
    putNodes(api, [{ name: 'node-1' }]);
    answering({ 'node-1': new Promise(() => {}) }, 'broken');
    timeout = 200;
    expect(await cluster('status')).toBe(3);
    expect(stdout).toBe('no answer: node-1 (no answer within 0.2 s)\n');
  });

  it.each([
    [20, []],
    [3, ['--parallel', '3']],
  ])('asks at most %d at a time', async (limit, flags) => {
    putNodes(
      api,
      names.slice(0, 30).map((name) => ({ name })),
    );
    let running = 0;
    let most = 0;
    api.containers.run = async () => {
      most = Math.max(most, ++running);
      // So many come while all of these wait, or none does.
      await until('the limit is reached', async () => most === limit);
      running--;
      return prints(statusOf({}));
    };
    expect(await cluster('status', ...flags)).toBe(0);
    expect(most).toBe(limit);
  });

  it('asks each proxy with its own program and configuration', async () => {
    putNodes(api, [{ name: 'node-1' }]);
    const asked: ContainerCommand[] = [];
    api.containers.run = (command) => {
      asked.push(command);
      return prints(statusOf({}));
    };
    await cluster('status');
    expect(asked).toEqual([
      {
        namespace: 'kube-system',
        pod: 'kube-proxy-node-1',
        container: 'kube-proxy',
        command: [
          '/usr/local/bin/kube-proxy',
          'status',
          '-o',
          'json',
          '--config=/var/lib/kube-proxy/config.conf',
        ],
      },
    ]);
  });

  it("finds the pods of kubeadm's DaemonSet and of ours", async () => {
    const containers = [{ name: 'kube-proxy-ts', command: ['/usr/local/bin/kube-proxy'] }];
    const containerStatuses = [{ name: 'kube-proxy-ts', state: { running: {} } }];
    const ours = {
      metadata: { labels: { 'k8s-app': 'kube-proxy-ts' } },
      spec: { containers },
      status: { containerStatuses },
    };
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2', pod: ours }]);
    answering({}, prints(statusOf({})));
    expect(await cluster('status')).toBe(0);
    expect(stdout).toMatch(/^node-1 +good[^]*^node-2 +good/m);
  });

  it('finds other pods when told to', async () => {
    putNodes(api, [{ name: 'node-1' }]);
    putNodes(api, [
      { name: 'node-2', pod: { metadata: { name: 'ours', labels: { app: 'ours' }, namespace: 'net' } } },
    ]);
    answering({ ours: prints(statusOf({})) }, 'broken');
    expect(await cluster('status', '-n', 'net', '-l', 'app=ours')).toBe(2);
    expect(stdout).toMatch(/^node-2 +good/m);
    expect(stdout).toMatch(/^no answer: node-1 \(no pod of a proxy is on this node\)/m);
  });

  it('does without the right to list nodes, and says what that means', async () => {
    putNodes(api, [{ name: 'node-1' }, { name: 'bare', pod: undefined }]);
    answering({}, prints(statusOf({})));
    api.faults.fail({ status: 403, reason: 'Forbidden', message: 'nodes are not yours', match: '/nodes?' });
    expect(await cluster('status')).toBe(0);
    expect(stdout).not.toContain('bare');
    expect(stderr).toMatch(/^not known: nodes without a proxy are not seen: .*nodes are not yours\n$/);
  });
});

describe('nobody to ask', () => {
  it.each([
    [
      'no pod has the labels',
      () => {},
      /no pod in the namespace kube-system has the labels k8s-app in \(kube-proxy, kube-proxy-ts\)/,
    ],
    ['pods may not be listed', () => api.faults.fail({ status: 403, match: '/pods' }), /responded with 403/],
    ['there is no such context', () => (kubeconfig += '.absent'), /cannot read the kubeconfig/],
  ])('says so when %s', async (_, prepare, message) => {
    prepare();
    const failed = cluster('status');
    await expect(failed).rejects.toMatchObject({ name: 'CannotAskError' });
    await expect(failed).rejects.toThrow(message);
  });

  it('says so when the API server is gone', async () => {
    await api.close();
    await expect(cluster('status')).rejects.toMatchObject({ name: 'CannotAskError' });
  });
});

describe('explain', () => {
  it('compares what the nodes have programmed', async () => {
    putNodes(
      api,
      names.map((name) => ({ name })),
    );
    const usual = explanationOf([portOf({})]);
    const failed = { state: 'failed' as const, since: 0, attempts: 2, reason: 'the kernel says no' };
    answering(
      {
        'node-9': prints(explanationOf([portOf({ status: failed })])),
        'node-17': prints(explanationOf([portOf({})], { waiting: true, waitingSeconds: 4.2 })),
        'node-20': 'broken',
      },
      prints(usual),
    );
    expect(await cluster('explain', 'shop/cart')).toBe(1);
    expect(stdout.split('\n').slice(0, 3)).toEqual([
      'shop/cart: programmed alike on 47 of 50 nodes',
      'failed: node-9 (IPv4 port http TCP: the kernel says no)',
      'behind: node-17 (4.2 s)',
    ]);
    expect(stdout).toMatch(/^no answer: node-20 \(/m);
  });

  it('ends with 0 when all are alike', async () => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
    answering({}, prints(explanationOf([portOf({})])));
    expect(await cluster('explain', 'shop/cart', '-o', 'yaml')).toBe(0);
    expect(stdout).toMatch(/^alike: 2$/m);
  });
});

it('names the nodes whose connections of Services are not tracked', async () => {
  putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
  answering(
    { 'node-2': prints({ services: [], tracksServices: false }) },
    prints({ services: [], tracksServices: true }),
  );
  expect(await cluster('top')).toBe(0);
  expect(stdout).toBe(
    'no connections of Services\nnot tracked: node-2 (through IPVS: set net.ipv4.vs.conntrack to 1)\n',
  );
});

it('adds up the connections of all nodes, over both families', async () => {
  putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
  const identity = { namespace: 'shop', name: 'cart', port: 'http', protocol: 'TCP' };
  const cart = { ...identity, open: 5, newPerSecond: 1.5, unanswered: 1 };
  answering(
    {
      'node-2': prints({
        services: [
          { ...cart, open: 7 },
          { ...cart, open: 1 },
          { ...cart, name: 'web', port: '' },
        ],
      }),
    },
    prints({ services: [cart] }),
  );
  expect(await cluster('top')).toBe(0);
  expect(stdout).toBe(
    [
      'SERVICE PORT    PROTOCOL  OPEN  NEW/S  UNANSWERED  NODES',
      'shop/cart:http  TCP       13    4.5    3           2',
      'shop/web        TCP       5     1.5    1           1',
      '',
    ].join('\n'),
  );
});
