import { thisVersion } from '../../../../../src/bootstrap/version.js';
import type { ClusterHistory } from '../../../../../src/diagnostics/application/cluster/cluster-activity.js';
import type { ClusterStatus } from '../../../../../src/diagnostics/application/cluster/cluster-status.js';
import { queryCluster } from '../../../../../src/diagnostics/adapters/cli/cluster/query-cluster.js';
import { NO_TERMINAL, PLUGIN } from '../../../../../src/adapters/cli/reader.js';
import { StandInApiServer } from '../../../../support/api-server/api-server.js';
import type { ContainerCommand, Executed } from '../../../../support/api-server/container-commands.js';
import { writeKubeconfig } from '../../../../support/api-server/kubeconfig.js';
import { putNodes } from '../../../../support/api-server/simulated-nodes.js';
import { usePrinted } from '../../../../support/program/use-printed.js';
import { until } from '../../../../support/until.js';
import { withEachTextForged } from '../asking/forged-texts.js';
import { wholeAnswers } from '../asking/whole-answers.js';
import {
  explanationOf,
  portOf,
  statusOf,
  trafficOf,
  trafficReport,
} from '../../../application/cluster/samples.js';
import { timeText } from '../../../../../src/domain/model/text.js';
import { explanationLines } from '../../../../../src/diagnostics/adapters/cli/commands/explain.js';
import { shownLines } from '../../../../support/shown-lines.js';
import { parseCommand } from '../../../../support/command-line.js';
import { answers, clusterAnswers } from '../../../../../scripts/docs/json-schemas.js';

/** Milliseconds that a node may take here: no test may fail because the machine is slow. */
let timeout: number;

let api: StandInApiServer;
let kubeconfig: string;
const printed = usePrinted();

beforeEach(async () => {
  api = await StandInApiServer.start();
  api.clusterRole = undefined;
  kubeconfig = await writeKubeconfig(api);
  timeout = 60_000;
});
afterEach(() => api.close());

const names = Array.from({ length: 30 }, (_, index) => `node-${index + 1}`);
const prints = (value: unknown, exitCode = 0): Executed => ({ exitCode, stdout: JSON.stringify(value) });

/** Runs `kubectl kubeproxy …` and answers its exit code. */
function cluster(...args: readonly string[]): Promise<number> {
  const asked = parseCommand(
    [...args, '--kubeconfig', kubeconfig],
    {
      readFile: () => '',
      hostname: () => 'laptop',
    },
    { ...NO_TERMINAL, program: PLUGIN },
  );
  return queryCluster(asked, thisVersion('v1.37.0'), timeout);
}

/** What a node answers, by its name; the others are good. */
function answering(answers: Readonly<Record<string, Executed | Promise<Executed>>>, usual: Executed): void {
  api.containers.run = ({ pod }: ContainerCommand) => answers[pod.replace('kube-proxy-', '')] ?? usual;
}

describe('status', () => {
  const troubled = {
    'node-7': prints(statusOf({ state: 'degraded', failing: 2, drift: 3 }), 1),
    'node-12': prints(statusOf({ state: 'ok', lag: 4.21 })),
    'node-30': prints(statusOf({ state: 'not-serving' }), 2),
  };

  it('shows one line a node, problems first', async () => {
    putNodes(
      api,
      names.map((name) => ({ name })),
    );
    answering(troubled, prints(statusOf({})));
    expect(await cluster('status')).toBe(1);
    const lines = printed.stdout.split('\n');
    expect(lines.slice(0, 6)).toEqual([
      'NODE     STATE        VERSION  MODE      IN SYNC  LAG    FAILING  DRIFT  REASON',
      'node-30  not serving  0.1.0    nftables  yes      -      0        0',
      'node-7   degraded     0.1.0    nftables  yes      -      2        3',
      'node-12  ok           0.1.0    nftables  no       4.2 s  0        0',
      'node-1   ok           0.1.0    nftables  yes      -      0        0',
      'node-2   ok           0.1.0    nftables  yes      -      0        0',
    ]);
    expect(lines).toHaveLength(32);
  });

  it('shows nodes again that change, while it is watched', async () => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }, { name: 'node-3' }]);
    let rounds = 0;
    api.containers.run = ({ pod }) => {
      if (pod === 'kube-proxy-node-1') rounds++;
      if (rounds === 1) return prints(statusOf({ lag: 1 }));
      if (pod === 'kube-proxy-node-2') return { exitCode: 3, stderr: 'Error: no proxy answers\n' };
      return prints(statusOf(pod === 'kube-proxy-node-3' ? { state: 'degraded' } : { lag: 2 }), 1);
    };
    const watching = cluster('status', '-w');
    await until('the second answers', async () => printed.stdout.includes('not reachable'));
    process.emit('SIGINT');
    expect(await watching).toBe(1);
    expect(printed.stdout.split('\n').slice(4)).toEqual([
      'node-3  degraded  0.1.0    nftables  yes      -      0        0',
      'not reachable: node-2 (Error: no proxy answers)',
      '',
    ]);
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
    expect(await cluster('status', '-o', 'json')).toBe(1);
    const { nodes, unreachableNodes } = JSON.parse(printed.stdout) as ClusterStatus & {
      unreachableNodes: unknown;
    };
    expect(nodes).toHaveLength(24);
    expect(unreachableNodes).toEqual([
      { node: 'bare', cause: 'absent', reason: 'the node has no pod of a proxy' },
      {
        node: 'crashing',
        cause: 'not-running',
        reason: 'the pod kube-proxy-crashing does not run: CrashLoopBackOff',
      },
      { node: 'node-4', cause: 'rejected', reason: 'exec is rejected: 403 Forbidden: you may not exec' },
      { node: 'node-5', cause: 'rejected', reason: 'exec is rejected: 403 Forbidden: you may not exec' },
      {
        node: 'node-6',
        cause: 'another-image',
        reason: expect.stringMatching(/no such program in the image registry\.example.*not found in \$PATH/),
      },
      {
        node: 'node-8',
        cause: 'another-image',
        reason:
          "the image registry.example/kube-proxy-ts:0.1.0 does not understand: Error: unknown shorthand flag: 'o' in -o",
      },
      { node: 'node-9', cause: 'failed', reason: 'Error: no proxy answers at http://127.0.0.1:10249' },
      { node: 'node-10', cause: 'failed', reason: expect.stringContaining('ended before the command did') },
    ]);
  });

  it('lists nodes that say the same in one line', async () => {
    putNodes(
      api,
      names.slice(0, 8).map((name) => ({ name })),
    );
    const refused: Executed = { refusal: 403, reason: 'Forbidden', message: 'no' };
    answering({ 'node-1': prints(statusOf({})) }, refused);
    expect(await cluster('status')).toBe(1);
    expect(printed.stdout.trimEnd().split('\n').at(-1)).toBe(
      'not reachable: node-2, node-3, node-4, node-5, node-6 and 2 more (exec is rejected: 403 Forbidden: no)',
    );
  });

  it.each([
    [0, 'ok'],
    [1, 'degraded'],
    [1, 'not-serving'],
  ] as const)('ends with %d when the worst node is %s', async (code, state) => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
    answering({ 'node-2': prints(statusOf({ state }), code) }, prints(statusOf({})));
    expect(await cluster('status')).toBe(code);
  });

  it('ends with 3 when nobody answers', async () => {
    putNodes(api, [{ name: 'node-1' }]);
    answering({}, 'broken');
    expect(await cluster('status')).toBe(3);
    expect(printed.stdout).toContain('not reachable: node-1');
  });

  it('does not wait for a node that hangs', async () => {
    putNodes(api, [{ name: 'node-1' }]);
    answering({ 'node-1': new Promise(() => {}) }, 'broken');
    timeout = 200;
    expect(await cluster('status')).toBe(3);
    expect(printed.stdout).toBe('not reachable: node-1 (no answer within 0.2 s)\n');
  });

  it.each([
    [20, []],
    [3, ['--parallel', '3']],
  ])('asks at most %d at a time', async (limit, flags) => {
    putNodes(
      api,
      names.map((name) => ({ name })),
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
    expect(printed.stdout).toMatch(/^node-1 +ok[^]*^node-2 +ok/m);
  });

  it('finds other pods when told to', async () => {
    putNodes(api, [{ name: 'node-1' }]);
    putNodes(api, [
      { name: 'node-2', pod: { metadata: { name: 'ours', labels: { app: 'ours' }, namespace: 'net' } } },
    ]);
    answering({ ours: prints(statusOf({})) }, 'broken');
    expect(await cluster('status', '--proxy-namespace', 'net', '-l', 'app=ours')).toBe(1);
    expect(printed.stdout).toMatch(/^node-2 +ok/m);
    expect(printed.stdout).toMatch(/^not reachable: node-1 \(the node has no pod of a proxy\)/m);
  });

  it('does without the right to list nodes, and says what that means', async () => {
    putNodes(api, [{ name: 'node-1' }, { name: 'bare', pod: undefined }]);
    answering({}, prints(statusOf({})));
    api.faults.fail({ status: 403, reason: 'Forbidden', message: 'nodes are not yours', match: '/nodes?' });
    expect(await cluster('status')).toBe(0);
    expect(printed.stdout).not.toContain('bare');
    expect(printed.stderr).toMatch(
      /^not known: nodes without a proxy are not seen: .*nodes are not yours\n$/,
    );
  });
});

describe('nobody to ask', () => {
  it.each([
    [
      'no pod has the labels',
      () => {},
      /no pod in the namespace kube-system has the labels k8s-app in \(kube-proxy, kube-proxy-ts, /,
    ],
    ['pods may not be listed', () => api.faults.fail({ status: 403, match: '/pods' }), /responded with 403/],
    ['there is no such context', () => (kubeconfig += '.absent'), /cannot read the kubeconfig/],
  ])('says so when %s', async (_, prepare, message) => {
    prepare();
    const failed = cluster('status');
    await expect(failed).rejects.toMatchObject({ name: 'QueryError' });
    await expect(failed).rejects.toThrow(message);
  });

  it('says so when the API server is gone', async () => {
    await api.close();
    await expect(cluster('status')).rejects.toMatchObject({ name: 'QueryError' });
  });
});

describe('a node that answers badly', () => {
  const badly: readonly (readonly [string, string])[] = [
    ['null', 'null'],
    ['a list', '[]'],
    ['a number', '42'],
    ['an empty object', '{}'],
    ['something else', '{"kind":"Status","items":[null]}'],
    ['null inside', '{"state":"ok","families":[null],"services":[null]}'],
    ['no JSON', 'Welcome!'],
    ['half of it', '{"state":"ok"'],
    ['nothing but depth', '['.repeat(100_000)],
  ];

  /** Asks a good node and one that says this. */
  async function expectALineOfItsOwn(said: string, ...question: readonly string[]): Promise<void> {
    putNodes(api, [{ name: 'bad' }, { name: 'good' }]);
    answering({ bad: { exitCode: 0, stdout: said } }, prints(goodAnswers[question[0]!]));
    expect([1, 2]).toContain(await cluster(...question));
    expect(printed.stdout).toMatch(
      /^not reachable: bad \(its answer is not that of a proxy: it\b.*\)$|^not reachable: bad \(.* where .* belongs\)$/m,
    );
    expect(printed.stdout.split('\n').length).toBeGreaterThan(2);
  }

  it.each(badly)('has a line of its own, and the others theirs: %s', (_, said) =>
    expectALineOfItsOwn(said, 'status'),
  );

  it.each([
    ['services'],
    ['explain', 'shop/cart'],
    ['trace', '--from', 'node', '--to', '10.96.0.1:80'],
    ['diff'],
    ['history'],
    ['top'],
  ])('has a line of its own when it is asked for %s', async (...question) => {
    await expectALineOfItsOwn('{"kind":"Status","items":[null]}', ...question);
  });

  it('is left when its answer does not end', async () => {
    putNodes(api, [{ name: 'bad' }, { name: 'good' }]);
    answering({ bad: { exitCode: 0, stdout: 'x'.repeat(65 * 1024 * 1024) } }, prints(statusOf({})));
    expect(await cluster('status')).toBe(1);
    expect(printed.stdout).toMatch(
      /^not reachable: bad \(its answer is not that of a proxy: it has more than 67108864 bytes\)$/m,
    );
  });

  it('cannot forge the line of another, nor control the terminal', async () => {
    putNodes(api, [{ name: 'bad' }, { name: 'good' }]);
    const reason = 'x\u001b[2K\r\ngood  good\u009b1A\u202e';
    answering(
      {
        bad: prints({ ...statusOf({ state: 'degraded' }), mode: reason, reasons: [reason] }),
        good: { exitCode: 3, stderr: `\u001b]0;title\u0007${reason}` },
      },
      'broken',
    );
    for (const output of ['text', 'wide', 'json', 'yaml']) {
      Object.assign(printed, { stdout: '', stderr: '' });
      expect(await cluster('status', '-o', output)).toBe(1);
      expect(printed.stdout + printed.stderr).not.toMatch(/[^\P{C}\n]/u);
      expect(printed.stdout).not.toMatch(/^good/m);
    }
  });

  it.each(wholeAnswers.filter(([name, args]) => name !== 'explain' || args[0] === 'a/b'))(
    'can do so with no text that it answers to %s %j',
    async (name, args, _, whole) => {
      putNodes(api, [{ name: 'bad' }, { name: 'good' }]);
      let shown = 0;
      for (const answer of withEachTextForged(whole)) {
        answering({ bad: prints(answer) }, prints(whole));
        Object.assign(printed, { stdout: '', stderr: '' });
        await cluster(name, ...args.filter((word) => word !== '--once'));
        const said = printed.stdout + printed.stderr;
        expect(said).not.toMatch(/[^\P{C}\n]|[\u2028\u2029]/u);
        expect(said).not.toMatch(/^forged/m);
        if (said.includes('forged')) shown++;
      }
      expect(shown).toBeGreaterThan(0);
    },
  );
});

/** What a proxy without trouble answers, by the question. */
const goodAnswers: Readonly<Record<string, unknown>> = {
  status: statusOf({}),
  services: { services: [], unknownNames: [] },
  explain: explanationOf([portOf({})]),
  trace: traceOf('forward', '10.244.1.5'),
  diff: { mode: 'nftables', families: [{ family: 'IPv4', lines: [], omitted: 0 }] },
  history: { changes: [], total: 0 },
  top: trafficReport([]),
};

function traceOf(outcome: string, ...endpoints: readonly string[]): object {
  const packet = {
    family: 'IPv4',
    source: '10.0.0.1',
    destination: '10.96.0.1',
    protocol: 'TCP',
    destinationPort: 80,
  };
  return {
    outcome,
    endpoints: endpoints.map((address) => ({ address, port: 8080, probability: 1 / endpoints.length })),
    sourceRewrite: 'never',
    sticky: false,
    steps: [],
    packet,
    remarks: [],
  };
}

describe('services', () => {
  const row = (name: string, state = 'ok', reason = '1 of 2 endpoints are ready'): object => ({
    namespace: 'shop',
    name,
    type: 'ClusterIP',
    frontends: ['10.96.0.1:80/TCP'],
    endpointCounts: { used: 1, known: 2 },
    state,
    reason,
  });
  const prepare = (): void => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }, { name: 'node-3' }]);
    answering(
      {
        'node-2': prints({ services: [row('web'), row('cart', 'error', 'EINVAL')], unknownNames: [] }, 1),
        'node-3': prints(
          {
            services: [row('web', 'warning', 'its last change is not programmed yet')],
            unknownNames: [{ name: 'cart', reason: 'absent' }],
          },
          1,
        ),
      },
      prints({ services: [row('cart'), row('web')], unknownNames: [] }),
    );
  };

  it('shows one line a Service with its worst verdict, and on which nodes', async () => {
    prepare();
    expect(await cluster('services', 'cart', 'web')).toBe(1);
    expect(printed.stdout).toBe(
      [
        'NAMESPACE  NAME  TYPE       ENDPOINTS  STATE    NODES  FRONTENDS         REASON',
        'shop       cart  ClusterIP  1/2        error    1/2    10.96.0.1:80/TCP  EINVAL (on node-2)',
        'shop       web   ClusterIP  1/2        warning  1/3    10.96.0.1:80/TCP  its last change is not programmed yet (on node-3)',
        '',
      ].join('\n'),
    );
    expect(printed.stderr).toBe('');
  });

  it('passes on what is asked for', async () => {
    putNodes(api, [{ name: 'node-1' }]);
    let words: readonly string[] = [];
    api.containers.run = ({ command }) => {
      words = command;
      return prints({ services: [], unknownNames: [] });
    };
    expect(await cluster('services', 'web', '--namespace=shop', '--problems')).toBe(0);
    expect(words.slice(1, -1)).toEqual([
      ...['services', 'web', '--namespace', 'shop', '--problems', '-o', 'json'],
    ]);
  });
});

it.each(['services', 'diff', 'history', 'top'])(
  '%s says that no node knows a Service, and ends with 1',
  async (kind) => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
    const unknownNames = [{ name: 'nosuch/x', reason: 'there is no such Service' }];
    answering({}, prints({ ...(goodAnswers[kind] as object), unknownNames }, 1));
    expect(await cluster(kind, 'nosuch/x')).toBe(1);
    expect(printed.stderr).toBe('nosuch/x: there is no such Service\n');
    // What one node knows, exists.
    printed.stderr = '';
    answering(
      { 'node-2': prints({ ...(goodAnswers[kind] as object), unknownNames: [] }) },
      prints({ ...(goodAnswers[kind] as object), unknownNames }, 1),
    );
    expect(await cluster(kind, 'nosuch/x')).toBe(0);
    expect(printed.stderr).toBe('');
  },
);

it.each([
  ['status', statusOf({}), 'node/node-1\nnode/node-2\n'],
  ['services', servicesAnswer(), 'service/web\n'],
  ['history', historyAnswer(), 'service/web\n'],
] as const)('%s prints the names of what it lists', async (kind, answer, names) => {
  putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
  answering({}, prints(answer));
  expect(await cluster(kind, '-o', 'name')).toBe(0);
  expect(printed.stdout).toBe(names);
});

it('shows on which nodes what becomes of a packet', async () => {
  putNodes(
    api,
    names.slice(0, 5).map((name) => ({ name })),
  );
  answering(
    {
      'node-2': prints({ ...traceOf('drop'), reason: 'no endpoint is ready' }),
      'node-4': prints({ error: 'no route' }, 1),
    },
    prints(traceOf('forward', '10.244.1.5', '10.244.2.6')),
  );
  expect(await cluster('trace', '--from', 'outside', '--to', '10.96.0.1:80')).toBe(1);
  expect(printed.stdout).toBe(
    [
      'forward on 3 of 5 nodes (node-1, node-3, node-5)',
      '  details of node-1:',
      '  10.0.0.1 → 10.96.0.1:80/TCP, sent by this node, by the desired rules',
      '    no rule concerns it',
      '  outcome: forward',
      '     50.0 %  10.244.1.5:8080',
      '     50.0 %  10.244.2.6:8080',
      '  source: kept',
      '  affinity: none',
      'drop on 1 of 5 nodes (node-2): no endpoint is ready',
      '  10.0.0.1 → 10.96.0.1:80/TCP, sent by this node, by the desired rules',
      '    no rule concerns it',
      '  outcome: drop',
      '    because no endpoint is ready',
      'error on 1 of 5 nodes (node-4): no route',
      '',
    ].join('\n'),
  );
});

describe('trace from a pod', () => {
  const asked: (readonly string[])[] = [];
  beforeEach(() => {
    putNodes(api, [{ name: 'node-1' }]);
    const metadata = { namespace: 'shop', name: 'cart-0' };
    const podIPs = [{ ip: '10.244.1.5' }, { ip: 'fd00:244::5' }];
    api.put({ apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Running', podIPs } });
    asked.length = 0;
    api.containers.run = ({ command }) => {
      asked.push(command);
      return prints(traceOf('forward', '10.244.1.9'));
    };
  });

  it.each([
    [['pod/shop/cart-0', '10.96.0.1:80'], '10.244.1.5'],
    [['pod/cart-0', '[fd00:96::1]:80'], 'fd00:244::5'],
    [['pod/cart-0', 'web', '-n', 'shop'], '10.244.1.5'],
  ])('%j gives nodes its address', async ([from = '', to = '', ...more], address) => {
    expect(await cluster('trace', '--from', from, '--to', to, ...more)).toBe(0);
    const [words] = asked;
    expect(words!.filter((word) => word === '--from')).toHaveLength(1);
    expect(words![words!.indexOf('--from') + 1]).toBe(address);
    expect(words!.join(' ')).toContain(`--to ${to}`);
  });

  it.each([
    [['node', 'pod/cart-0:8080', '-n', 'shop'], '10.244.1.5:8080/TCP'],
    [['10.244.1.9', 'pod/shop/cart-0:53/udp'], '10.244.1.5:53/UDP'],
    [['fd00:244::9', 'pod/shop/cart-0:8080'], '[fd00:244::5]:8080/TCP'],
  ])('%j gives nodes the address of the destination', async ([from = '', to = '', ...more], address) => {
    expect(await cluster('trace', '--from', from, '--to', to, ...more)).toBe(0);
    const words = asked[0]!.join(' ');
    expect(words).toContain(`--from ${from} `);
    expect(words).toContain(`--to ${address} `);
    expect(words.match(/--to /g)).toHaveLength(1);
  });

  it('says that there is none of that name, and asks no node', async () => {
    const tracing = cluster('trace', '--from', 'pod/cart-1', '--to', '10.96.0.1:80');
    await expect(tracing).rejects.toThrow('there is no pod cart-1');
    expect(asked).toEqual([]);
  });
});

it('shows what the kernels have otherwise', async () => {
  putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }, { name: 'node-3' }]);
  const differing = {
    mode: 'nftables',
    families: [
      { family: 'IPv4', lines: [{ sign: '+', text: 'element x', servicePort: 'shop/web' }], omitted: 0 },
      { family: 'IPv6', lines: [], omitted: 0, problem: 'nothing is programmed yet' },
    ],
  };
  answering({ 'node-2': prints(differing, 3) }, prints(goodAnswers['diff']));
  expect(await cluster('diff')).toBe(1);
  expect(printed.stdout).toBe(
    [
      'no difference on 2 of 3 nodes (node-1, node-3)',
      'differences on 1 of 3 nodes (node-2)',
      '  IPv4 (nftables)',
      '    shop/web',
      '      + element x',
      '  IPv6 (nftables): not known: nothing is programmed yet',
      '',
    ].join('\n'),
  );
});

it('merges the histories of all nodes by time', async () => {
  putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
  const repaired = (time: number): object => ({ kind: 'repaired', family: 'IPv4', time, writtenSteps: 1 });
  const many = Array.from({ length: 1_000 }, (_, index) => repaired(1_000 + 2 * index));
  answering(
    { 'node-2': prints({ changes: [repaired(2_999)], total: 1 }) },
    prints({ changes: many, total: 1_500 }),
  );
  expect(await cluster('history', '-o', 'json')).toBe(0);
  const { changes, total } = JSON.parse(printed.stdout) as ClusterHistory;
  expect(total).toBe(1_501);
  expect(changes).toHaveLength(1_000);
  // A former version writes milliseconds.
  expect(changes.slice(-1)).toEqual([{ ...repaired(2_999), time: timeText(2_999), node: 'node-2' }]);
  expect(changes[0]).toEqual({ ...repaired(1_002), time: timeText(1_002), node: 'node-1' });
  printed.stdout = '';
  expect(await cluster('history', '--limit', '2', '-o', 'json')).toBe(0);
  expect((JSON.parse(printed.stdout) as ClusterHistory).changes).toMatchObject([
    { node: 'node-1', time: timeText(2_998) },
    { node: 'node-2', time: timeText(2_999) },
  ]);
  printed.stdout = '';
  expect(await cluster('history')).toBe(0);
  expect(printed.stdout).toMatch(/^NODE +TIME/);
  expect(printed.stdout).toMatch(/^node-2 +1970-01-01T00:00:02.999Z/m);
});

describe('explain', () => {
  const wrongSelector = {
    state: 'error',
    cause: 'NoPodSelected',
    reason: 'no pod has the labels app=webb',
    nextStep: 'check the selector: kubectl -n shop get pods -l app=webb',
  } as const;
  const broken = { ...explanationOf([portOf({ endpoints: [] })]), verdict: wrongSelector };

  it('shows the verdict with the number of nodes, the next step, and the details once', async () => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
    answering({}, prints(broken, 1));
    expect(await cluster('explain', 'shop/cart')).toBe(1);
    expect(printed.stdout).toBe(
      [
        'shop/cart: error on 2 of 2 nodes: no pod has the labels app=webb',
        '  next: check the selector: kubectl -n shop get pods -l app=webb',
        '  details of node-1:',
        '  IPv4',
        '    port http TCP: programmed 1970-01-01T00:00:00.000Z',
        '      cluster-ip 10.96.0.1:80 (Cluster): forward, to 2 endpoints',
        '',
      ].join('\n'),
    );
  });

  it('names the nodes that differ, those of the larger group first', async () => {
    putNodes(
      api,
      names.map((name) => ({ name })),
    );
    answering({ 'node-9': prints(broken, 1), 'node-20': 'broken' }, prints(explanationOf([portOf({})])));
    expect(await cluster('explain', 'shop/cart')).toBe(1);
    expect(printed.stdout.split('\n').filter((line) => /^\S/.test(line))).toEqual([
      'shop/cart: ok on 28 of 30 nodes (node-1, node-2, node-3, node-4, node-5 and 23 more): 2 of 2 endpoints are ready',
      'shop/cart: error on 1 of 30 nodes (node-9): no pod has the labels app=webb',
      'shop/cart: node-9 has other frontends or endpoints than the other nodes',
      expect.stringMatching(/^not reachable: node-20 \(/),
    ]);
  });

  it('asks each node once about several Services, and shows one after the other', async () => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
    const asked = new Set<string>();
    const other = { ...explanationOf([]), service: 'b/web', known: false, verdict: NOT_FOUND };
    api.containers.run = ({ command }) => {
      asked.add(command.slice(1, -1).join(' '));
      return prints([explanationOf([portOf({})]), other], 1);
    };
    expect(await cluster('explain', 'shop/cart', 'svc/b/web', 'web:http')).toBe(1);
    expect([...asked]).toEqual(['explain shop/cart svc/b/web web:http -o json']);
    expect(printed.stdout).toMatch(
      /^shop\/cart: ok on 2 of 2 nodes: [^]*\n\nb\/web: error on 2 of 2 nodes: there is no such Service\n$/,
    );
    printed.stdout = '';
    expect(await cluster('explain', 'shop/cart', 'b/web', '-o', 'json')).toBe(1);
    expect(JSON.parse(printed.stdout)).toMatchObject({
      queriedNodes: 2,
      subjects: [
        { subject: 'shop/cart', groups: [{ nodes: ['node-1', 'node-2'], answer: { service: 'shop/cart' } }] },
        { subject: 'b/web', groups: [{ answer: { verdict: NOT_FOUND } }] },
      ],
      unreachableNodes: [],
    });
  });
  const NOT_FOUND = { state: 'error', cause: 'NotFound', reason: 'there is no such Service' } as const;

  it('shows addresses', async () => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
    const otherwise = 'no Service has this address';
    answering({}, prints({ subject: '10.96.0.9', frontends: [], endpoints: [], otherwise }, 1));
    expect(await cluster('explain', '10.96.0.9')).toBe(1);
    expect(printed.stdout).toBe(`10.96.0.9: on 2 of 2 nodes\n  details of node-1:\n  ${otherwise}\n`);
  });

  it('ends with 0 when it is ok on all nodes, and with 3 when none is reachable', async () => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
    answering({}, prints(explanationOf([portOf({})])));
    expect(await cluster('explain', 'shop/cart')).toBe(0);
    answering({}, { exitCode: 1, stdout: '' });
    expect(await cluster('explain', 'shop/cart')).toBe(3);
  });
});

describe('--node', () => {
  beforeEach(() => {
    putNodes(
      api,
      names.map((name) => ({ name })),
    );
  });
  const explanation = explanationOf([portOf({})]);

  it('with one node prints what its own command prints', async () => {
    answering({}, prints(explanation));
    expect(await cluster('explain', 'shop/cart', '--node', 'node-3')).toBe(0);
    expect(printed.stdout).toBe(shownLines(explanationLines(explanation)));
    printed.stdout = '';
    answering({}, prints(statusOf({ state: 'degraded' }), 1));
    expect(await cluster('status', '--node', 'node/node-3')).toBe(1);
    expect(printed.stdout).toMatch(/^node: degraded\n {2}nftables mode/);
  });

  it.each(wholeAnswers.filter(([name]) => name !== 'drain-status'))(
    'with one node has the JSON of the node: %s %j',
    async (name, args, _, whole) => {
      const value = JSON.parse(JSON.stringify(answers[name]!(whole, ''))) as object;
      const answer = Array.isArray(value) && value.length === 1 ? (value[0] as object) : value;
      answering({}, prints(answer));
      const words = args.filter((word) => word !== '--once');
      await cluster(name, ...words, '--node', 'node-3', '-o', 'json');
      expect(JSON.parse(printed.stdout)).toEqual(answer);
      printed.stdout = '';
      await cluster(name, ...words, '--node', 'node-3,node-4', '-o', 'json');
      const ofBoth = JSON.parse(printed.stdout) as object;
      expect(ofBoth).toMatchObject({ queriedNodes: 2, unreachableNodes: [] });
      expect(clusterAnswers[name](ofBoth, '')).toEqual(ofBoth);
    },
  );

  it('queries several nodes and no other', async () => {
    const queried: string[] = [];
    api.containers.run = ({ pod }) => {
      queried.push(pod);
      return prints(explanation);
    };
    expect(await cluster('explain', 'shop/cart', '--node', 'node-3', '--node', 'node/node-4')).toBe(0);
    expect(queried.sort()).toEqual(['kube-proxy-node-3', 'kube-proxy-node-4']);
    expect(printed.stdout).toMatch(/^shop\/cart: ok on 2 of 2 nodes: /);
  });

  it.each(['services', 'diff', 'history', 'top'])(
    'says of one node that it knows no such Service: %s',
    async (kind) => {
      const unknownNames = [{ name: 'nosuch/x', reason: 'there is no such Service' }];
      answering({}, prints({ ...(goodAnswers[kind] as object), unknownNames }, 1));
      expect(await cluster(kind, 'nosuch/x', '--node', 'node-3')).toBe(1);
      expect(printed.stderr).toBe('nosuch/x: there is no such Service\n');
    },
  );

  it('watches one node', async () => {
    let rounds = 0;
    api.containers.run = () => prints(statusOf(rounds++ === 0 ? {} : { state: 'degraded' }));
    const watching = cluster('status', '-w', '--node', 'node-3');
    await until('the second answer', async () => printed.stdout.includes('degraded'));
    process.emit('SIGINT');
    expect(await watching).toBe(1);
    expect(printed.stdout).toMatch(/^NODE[^]*\nnode-3 +ok[^]*\nnode-3 +degraded/);
  });

  it('ends with 3 when that node is not reachable', async () => {
    answering({ 'node-3': 'broken' }, prints(explanation));
    for (const output of ['text', 'json']) {
      const querying = cluster('explain', 'shop/cart', '--node', 'node-3', '-o', output);
      // The program ends with 3.
      await expect(querying).rejects.toMatchObject({ name: 'QueryError' });
      await expect(querying).rejects.toThrow(/^node-3 is not reachable: /);
    }
    expect(printed.stdout).toBe('');
  });

  it('rejects nodes that do not exist', async () => {
    await expect(cluster('status', '--node', 'node-3,nowhere')).rejects.toThrow(
      'the cluster has no node nowhere; kubectl get nodes lists them',
    );
  });
});

describe('version', () => {
  it('shows that of this program, and those of all nodes, those that agree once', async () => {
    putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }, { name: 'node-3' }]);
    const older = { ...statusOf({}), versions: { program: '0.0.9', nodejs: 'v22', kernel: '5.10' } };
    answering({ 'node-2': prints(older) }, prints(statusOf({ state: 'degraded' }), 1));
    expect(await cluster('version')).toBe(0);
    const [client, ...proxies] = printed.stdout.trimEnd().split('\n');
    expect(client).toMatch(/^client: \S+ for Kubernetes v1\.37\.0, Node\.js v/);
    expect(proxies).toEqual([
      'proxy on 2 of 3 nodes (node-1, node-3): 0.1.0, Node.js v24, nftables mode, Linux 6.1',
      'proxy on 1 of 3 nodes (node-2): 0.0.9, Node.js v22, nftables mode, Linux 5.10',
    ]);
  });

  it('with --client queries nobody', async () => {
    await api.close();
    expect(await cluster('version', '--client')).toBe(0);
    expect(printed.stdout).toMatch(/^client: .*\n$/);
  });

  it('of one node has the JSON of the node', async () => {
    putNodes(api, [{ name: 'node-1' }]);
    answering({}, prints(statusOf({})));
    expect(await cluster('version', '--node', 'node-1', '-o', 'json')).toBe(0);
    const { client, proxy } = answers['version']!(JSON.parse(printed.stdout), '') as Record<string, object>;
    expect(client).toMatchObject({ kubernetes: 'v1.37.0' });
    expect(proxy).toEqual({ ...statusOf({}).versions, mode: 'nftables' });
  });
});

it('shows Services again that change, while they are watched', async () => {
  putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
  let rounds = 0;
  const row = (name: string, verdict: object): object => ({
    ...{ namespace: 'shop', name, frontends: [], endpointCounts: { used: 1, known: 1 } },
    ...verdict,
  });
  const ok = { state: 'ok', reason: '1 of 1 endpoint is ready' };
  api.containers.run = ({ pod }) => {
    if (pod === 'kube-proxy-node-1') rounds++;
    const isBroken = rounds > 1 && pod === 'kube-proxy-node-2';
    const web = row('web', isBroken ? { state: 'error', reason: 'EINVAL' } : ok);
    return prints({ services: [row('cart', ok), web], unknownNames: [] });
  };
  const watching = cluster('services', '-w');
  await until('the second answers', async () => printed.stdout.includes('EINVAL'));
  process.emit('SIGINT');
  expect(await watching).toBe(1);
  const [, cart, web, changed, ...rest] = printed.stdout.trimEnd().split('\n');
  expect([cart, web]).toEqual([
    expect.stringMatching(/^shop +cart .* ok /),
    expect.stringMatching(/^shop +web .* ok /),
  ]);
  expect(changed).toMatch(/^shop +web .* error +1\/2 +- +EINVAL \(on node-2\)$/);
  expect(rest).toEqual([]);
});

it('names the nodes whose connections of Services are not tracked', async () => {
  putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
  answering({ 'node-2': prints(trafficReport([], false)) }, prints(trafficReport([])));
  expect(await cluster('top')).toBe(0);
  expect(printed.stdout).toBe(
    'no connections of Services\nnot tracked: node-2 (through IPVS: set net.ipv4.vs.conntrack to 1)\n',
  );
});

it('adds up the connections of all nodes, over both families', async () => {
  putNodes(api, [{ name: 'node-1' }, { name: 'node-2' }]);
  const cart = trafficOf('cart', 5, 1.5, 1);
  const web = { ...trafficOf('web', 5, 1.5, 1), portName: '' };
  const numbers = {
    openConnections: 1,
    newConnections: 0,
    newConnectionsPerSecond: 0,
    unansweredConnections: 1,
  };
  const unresponsive = {
    ...numbers,
    address: '10.1.1.1',
    port: 8080,
    state: 'ready',
    unresponsive: true,
  } as const;
  answering(
    {
      'node-2': prints(
        trafficReport([{ ...cart, openConnections: 7 }, { ...cart, openConnections: 1 }, web]),
      ),
    },
    prints(trafficReport([{ ...cart, endpoints: [unresponsive], unresponsiveEndpoints: 1 }])),
  );
  expect(await cluster('top')).toBe(1);
  expect(printed.stdout).toBe(
    [
      'SERVICE PORT    PROTOCOL  OPEN  NEW/S  UNANSWERED  NODES  STATE',
      'shop/cart:http  TCP       13    4.5    3           2      1 endpoint does not answer',
      'shop/web        TCP       5     1.5    1           1',
      '',
    ].join('\n'),
  );
});

function servicesAnswer(): object {
  const row = { namespace: 'shop', name: 'web', frontends: [], endpointCounts: { used: 1, known: 1 } };
  return { services: [{ ...row, state: 'ok', reason: '1 of 1 endpoint is ready' }], unknownNames: [] };
}

function historyAnswer(): object {
  const list = { count: 1, added: 0, removed: 0, changed: 0, examples: [] };
  const change = {
    ...{ kind: 'service-port', family: 'IPv4', time: 5, writtenSteps: 1, servicePort: 'shop/web' },
    ...{
      result: 'programmed',
      eventTime: 4,
      durationSeconds: 0.001,
      endpointChange: list,
      frontendChange: list,
    },
  };
  return {
    changes: [change, { kind: 'repaired', family: 'IPv4', time: 6, writtenSteps: 1 }, change],
    total: 3,
  };
}
