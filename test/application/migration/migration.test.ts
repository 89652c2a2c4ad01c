import { migrationExit, type MigrationReport } from '../../../src/application/migration/migration-report.js';
import { Migration, type MigrationRequest } from '../../../src/application/migration/migration.js';
import type { HealthCheck } from '../../../src/application/ports/migration/health-check.js';
import { MigrationError } from '../../../src/domain/migration/migration-error.js';
import {
  ClusterInMemory,
  daemonSet,
  different,
  equal,
  HastyClock,
  iptables,
  kubeProxy,
  nftables,
} from './cluster-in-memory.js';

const REQUEST: MigrationRequest = {
  to: 'iptables',
  label: 'service-proxy',
  namespace: 'kube-system',
  nodes: { labels: {} },
  expected: [],
  timeout: 5_000,
  parallel: 2,
};

let told: string[];
let healthChecks: HealthCheck[];
let stop: AbortController;
beforeEach(() => {
  told = [];
  healthChecks = [];
  stop = new AbortController();
});

function migration(cluster: ClusterInMemory, request: Partial<MigrationRequest> = {}): Migration {
  return new Migration(
    { ...REQUEST, ...request },
    {
      cluster,
      inspector: cluster,
      healthChecks,
      clock: new HastyClock(),
      told: (node, step) => told.push(`${node}: ${step}`),
    },
  );
}

const run = (cluster: ClusterInMemory, request?: Partial<MigrationRequest>) =>
  migration(cluster, request).run(stop.signal);
const check = (cluster: ClusterInMemory, request?: Partial<MigrationRequest>) =>
  migration(cluster, request).check(stop.signal);

const ends = ({ nodes }: MigrationReport) => nodes.map(({ node, end }) => `${node} ${end}`);
const labelCalls = ({ calls }: ClusterInMemory) => calls.filter((call) => call.startsWith('label'));

it('moves node by node, each by way of no proxy, and compares again', async () => {
  const cluster = new ClusterInMemory();
  const asked: string[] = [];
  healthChecks = ['one', 'two'].map((name) => ({
    name,
    check: async (node) => void asked.push(`${node} ${name} ${cluster.where[node]}`),
  }));
  const report = await run(cluster);
  expect(ends(report)).toEqual(['n1 moved', 'n2 moved']);
  expect(migrationExit(report)).toBe(0);
  expect(cluster.where).toEqual({ n1: 'kube-proxy-ts', n2: 'kube-proxy-ts' });
  expect(labelCalls(cluster)).toEqual(
    ['n1', 'n2'].flatMap((node) => [
      `label ${node} kube-proxy`,
      `label ${node} none`,
      `label ${node} kube-proxy-ts`,
    ]),
  );
  expect(cluster.calls.filter((call) => call.startsWith('inspect'))).toEqual([
    'inspect n1 iptables',
    'inspect n2 iptables',
    'inspect n1 iptables moved',
    'inspect n2 iptables moved',
  ]);
  expect(asked).toEqual(
    ['n1', 'n2'].flatMap((node) => [`${node} one kube-proxy-ts`, `${node} two kube-proxy-ts`]),
  );
});

describe('labels no node', () => {
  it.each([
    ['differs', different, 1],
    ['is not understood', equal({ unknown: 1, unknowns: ['-m weird'] }), 2],
    [
      'differs by a known difference',
      equal({ known: [{ name: 'other-ports', sentence: '…', classes: 1 }] }),
      1,
    ],
    ['cannot run there', { ...equal(), facts: { ...equal().facts, obstacle: 'an old kernel' } }, 1],
  ])('where what one node says %s', async (_, says, exit) => {
    const cluster = new ClusterInMemory();
    cluster.says = ({ node }) => (node === 'n2' ? says : equal());
    const report = await run(cluster);
    expect(ends(report)).toEqual(['n1 untouched', 'n2 untouched']);
    expect(migrationExit(report)).toBe(exit);
    expect(labelCalls(cluster)).toEqual([]);
  });

  it('where a node cannot be looked at', async () => {
    const cluster = new ClusterInMemory();
    cluster.before = (call) => {
      if (call === 'inspect n2 iptables') throw new Error('no such image');
    };
    const report = await run(cluster);
    expect(report.nodes[1]).toMatchObject({ end: 'untouched', reason: 'no such image' });
    expect([migrationExit(report), labelCalls(cluster)]).toEqual([1, []]);
  });

  it('in a check', async () => {
    const cluster = new ClusterInMemory({ n1: 'kube-proxy-ts', n2: 'kube-proxy' });
    const report = await check(cluster);
    expect([ends(report), labelCalls(cluster)]).toEqual([['n1 there', 'n2 checked'], []]);
    expect(report.nodes.map(({ program }) => program)).toEqual(['kube-proxy-ts', 'kube-proxy']);
  });
});

it('goes on where differences are expected, by their names', async () => {
  const cluster = new ClusterInMemory();
  const known = [{ name: 'other-ports', sentence: '…', classes: 1 }];
  cluster.says = () => equal({ known, unknown: 1, unknowns: ['-m weird'] });
  expect(ends(await run(cluster, { expected: ['other-ports', 'unknown'] }))).toEqual([
    'n1 moved',
    'n2 moved',
  ]);
});

it('looks again before a difference counts', async () => {
  const cluster = new ClusterInMemory({ n1: 'kube-proxy' });
  const answers = [different, equal(), different, equal()];
  cluster.says = () => answers.shift()!;
  expect(ends(await run(cluster))).toEqual(['n1 moved']);
});

describe('what goes wrong leads back, and ends the migration', () => {
  const back = [
    'label n1 kube-proxy',
    'label n1 none',
    'label n1 kube-proxy-ts',
    'label n1 none',
    'label n1 kube-proxy',
  ];

  it('a pod of before that does not end', async () => {
    const cluster = new ClusterInMemory();
    cluster.others = [
      { name: 'x', node: 'n1', daemonSet: 'kube-proxy', isReady: false, state: 'Terminating' },
    ];
    const report = await run(cluster);
    expect(report.nodes[0]).toMatchObject({
      end: 'went back',
      reason: 'the pod of kube-proxy did not end within 5 s: it is still there',
    });
    expect(labelCalls(cluster)).toEqual([
      'label n1 kube-proxy',
      'label n1 none',
      'label n1 none',
      'label n1 kube-proxy',
    ]);
  });

  it('a pod that does not get ready', async () => {
    const cluster = new ClusterInMemory();
    cluster.isReady = (_, name) => name === 'kube-proxy';
    const report = await run(cluster);
    expect(report.nodes[0]).toMatchObject({
      end: 'went back',
      reason: 'the pod of kube-proxy-ts did not get ready within 5 s: CrashLoopBackOff',
    });
    expect(report.nodes[1]).toMatchObject({ end: 'untouched' });
    expect([migrationExit(report), labelCalls(cluster)]).toEqual([1, back]);
  });

  it('rules that do something else', async () => {
    const cluster = new ClusterInMemory();
    cluster.says = ({ moved }) => (moved ? different : equal());
    const report = await run(cluster);
    expect(report.nodes[0]!.reason).toMatch(
      /did not come to do what it is to do within 5 s: differs for shop\/web$/,
    );
    expect([ends(report), labelCalls(cluster)]).toEqual([['n1 went back', 'n2 untouched'], back]);
  });

  it('a health check that does not succeed, but not one that succeeds later', async () => {
    const cluster = new ClusterInMemory();
    let tries = 0;
    healthChecks = [
      { name: 'late', check: async () => (++tries < 3 ? 'not yet' : undefined) },
      { name: 'bad', check: async () => 'exit code 7' },
    ];
    const report = await run(cluster);
    expect(report.nodes[0]).toMatchObject({
      end: 'went back',
      reason: 'the health check "bad" did not succeed within 5 s: exit code 7',
    });
    expect([tries, labelCalls(cluster), cluster.where.n1]).toEqual([3, back, 'kube-proxy']);
    expect(told.at(-1)).toBe('n1: kube-proxy is ready');
  });
});

it('changes nothing on a node that may not be labelled', async () => {
  const cluster = new ClusterInMemory();
  cluster.before = (call) => {
    if (call.startsWith('label')) throw new Error('nodes "n1" is forbidden');
  };
  const report = await run(cluster);
  expect(report.nodes.map(({ end, reason }) => [end, reason])).toEqual([
    ['untouched', 'nodes "n1" is forbidden'],
    ['untouched', undefined],
  ]);
  expect(migrationExit(report)).toBe(1);
});

it('tells of a node that can neither go on nor back, and leaves its rules', async () => {
  const cluster = new ClusterInMemory();
  cluster.isReady = () => false;
  const report = await run(cluster);
  expect(report.nodes[0]!.end).toBe('stuck');
  expect(report.nodes[0]!.reason).toMatch(
    /kube-proxy-ts did not get ready.*; and it cannot go back: the pod of kube-proxy did not get ready/,
  );
});

it('goes on after errors of the API server that pass', async () => {
  const cluster = new ClusterInMemory({ n1: 'kube-proxy' });
  const failed = new Set<string>();
  cluster.before = (call) => {
    if (!/^(pods n1|label n1 (none|kube-proxy-ts)|inspect n1 iptables moved)$/.test(call) || failed.has(call))
      return;
    failed.add(call);
    throw new Error('connection reset');
  };
  expect(ends(await run(cluster))).toEqual(['n1 moved']);
  expect(failed.size).toBe(4);
});

it('leaves a node that had no proxy where it was, if it does not come through', async () => {
  const cluster = new ClusterInMemory({ n1: 'none' });
  cluster.isReady = () => false;
  const report = await run(cluster);
  expect([ends(report), cluster.where, labelCalls(cluster)]).toEqual([
    ['n1 went back'],
    { n1: 'none' },
    ['none', 'none', 'kube-proxy-ts', 'none', 'none'].map((value) => `label n1 ${value}`),
  ]);
});

it('of DaemonSets in one mode takes the one that selects nodes by the label', async () => {
  const cluster = new ClusterInMemory({ n1: 'kube-proxy' });
  cluster.sets = [...cluster.sets, daemonSet('elsewhere', 'kube-proxy-ts', 'iptables', { zone: 'z' })];
  expect((await run(cluster)).daemonSet).toBe('kube-proxy-ts');
  cluster.sets = [...cluster.sets, daemonSet('second', 'kube-proxy-ts', 'iptables')];
  await expect(check(cluster)).rejects.toThrow(
    'several DaemonSets run kube-proxy-ts in mode iptables: kube-proxy-ts, second; choose one',
  );
});

describe('an abort', () => {
  it('at any call leaves the node where it was, or moved', async () => {
    healthChecks = [{ name: 'fine', check: async () => undefined }];
    const whole = new ClusterInMemory({ n1: 'kube-proxy' });
    await run(whole);
    const count = whole.calls.length;
    expect(count).toBeGreaterThan(8);
    for (let at = 0; at < count; at++) {
      const cluster = new ClusterInMemory({ n1: 'kube-proxy' });
      stop = new AbortController();
      cluster.before = () => {
        if (cluster.calls.length === at + 1) stop.abort(new Error('interrupted'));
      };
      const report = await run(cluster).catch((error: unknown) => error);
      expect(cluster.where).toEqual({ n1: 'kube-proxy' });
      if (report instanceof Error) expect(report.message).toBe('interrupted');
      else expect((report as MigrationReport).nodes[0]!.reason).toBe('interrupted');
    }
  });

  it('in a health check goes back', async () => {
    const cluster = new ClusterInMemory();
    healthChecks = [
      {
        name: 'slow',
        check: async (_, signal) => {
          stop.abort();
          signal.throwIfAborted();
          return undefined;
        },
      },
    ];
    expect(ends(await run(cluster))).toEqual(['n1 went back', 'n2 untouched']);
    expect(cluster.where.n1).toBe('kube-proxy');
  });
});

describe('is refused with what is missing', () => {
  const refusal = async (cluster: ClusterInMemory, request?: Partial<MigrationRequest>): Promise<string> => {
    const error = await run(cluster, request).catch((thrown: unknown) => thrown);
    if (!(error instanceof MigrationError)) throw error;
    expect(labelCalls(cluster)).toEqual([]);
    return [error.message, ...error.commands].join('\n');
  };

  it.each([
    [
      'a DaemonSet for the mode',
      { to: 'nftables' as const },
      /helm install kube-proxy-ts-nftables .*mode=nftables/,
    ],
    ['a node', { nodes: { names: ['n9'], labels: {} } }, /there is no node n9/],
    ['nodes with labels', { nodes: { labels: { zone: 'z' } } }, /no node has these labels/],
    ['another label', { label: 'other' }, /runs on nodes whatever their label other is/],
  ])('%s', async (_, request, message) => {
    expect(await refusal(new ClusterInMemory(), request)).toMatch(message);
  });

  it('kube-proxy, where it selects nodes by no label: with the command', async () => {
    const cluster = new ClusterInMemory();
    cluster.sets = [daemonSet('kube-proxy', 'kube-proxy', 'iptables', {}), iptables];
    expect(await refusal(cluster)).toMatch(/kubectl -n kube-system patch daemonset kube-proxy --type merge/);
  });

  it('program and mode at once, in both directions: with two commands', async () => {
    const cluster = new ClusterInMemory();
    cluster.sets = [kubeProxy, nftables];
    expect(await refusal(cluster, { to: 'nftables' })).toMatch(
      /gap on the way back[^]*migrate --to iptables\n.*migrate --to nftables$/,
    );
    const back = new ClusterInMemory({ n1: 'kube-proxy-ts-nftables' });
    back.sets = [kubeProxy, nftables];
    expect(await refusal(back, { to: 'kube-proxy' })).toMatch(
      /there would be a gap: [^]*migrate --to iptables\n.*migrate --to kube-proxy$/,
    );
  });

  it('two proxies on a node', async () => {
    const cluster = new ClusterInMemory();
    cluster.others = [{ name: 'x', node: 'n2', daemonSet: 'kube-proxy-ts', isReady: true, state: '' }];
    expect(await refusal(cluster)).toMatch('two service proxies run on n2: kube-proxy, kube-proxy-ts');
  });
});

it('a check says what is missing, and compares all the same', async () => {
  const cluster = new ClusterInMemory();
  const report = await check(cluster, { to: 'nftables' });
  expect(report.obstacles.flatMap(({ commands }) => commands)).toEqual([
    expect.stringContaining('helm install kube-proxy-ts-nftables'),
  ]);
  expect(cluster.calls).toContain('inspect n1 nftables');
});

it('begins again where it stopped: what is there is only looked at', async () => {
  const cluster = new ClusterInMemory({ n1: 'kube-proxy-ts', n2: 'none', n3: 'kube-proxy' });
  const report = await run(cluster);
  expect(ends(report)).toEqual(['n1 there', 'n2 moved', 'n3 moved']);
  expect(cluster.calls).toContain('inspect n1 iptables moved');
  expect(labelCalls(cluster).some((call) => call.includes('n1'))).toBe(false);
});

it('takes nodes in the order in which they are named, and leaves others', async () => {
  const cluster = new ClusterInMemory({ n1: 'kube-proxy', n2: 'kube-proxy', n3: 'kube-proxy' });
  const report = await run(cluster, { nodes: { names: ['n3', 'n1', 'n3'], labels: {} } });
  expect(ends(report)).toEqual(['n3 moved', 'n1 moved']);
  expect(cluster.where.n2).toBe('kube-proxy');
});
