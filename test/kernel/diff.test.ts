import type { DifferenceReport } from '../../src/diagnostics/application/difference/difference-report.js';
import { sampleOf } from '../support/nightly.js';
import { CommandNode } from '../support/program/command-node.js';
import type { Ended } from '../support/program/command.js';
import { clusterObjects, type TestService } from '../support/testbed/cluster-objects.js';
import { other, web } from '../support/testbed/two-services.js';
import { until } from '../support/until.js';

const metrics = 'http://127.0.0.1:10249';
let node: CommandNode;

beforeEach(async () => {
  node = await CommandNode.open('diff');
});
afterEach(() => node.close());

async function flags(mode: string, ...services: readonly TestService[]): Promise<readonly string[]> {
  const names = services.map(({ name }) => name).join('-');
  const file = await node.write(`${names}.yaml`, clusterObjects(services));
  const identity = ['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];
  return ['--proxy-mode', mode, ...identity, '--manifests', file];
}

const plan = async (mode: string, service: TestService, more: readonly string[] = []): Promise<Ended> =>
  node.run(['diff', ...more, ...(await flags(mode, service))]);

const damages = {
  nftables: {
    tool: ['nft', '-f', '-'],
    input: [
      'flush chain ip kube-proxy nat-output',
      'add rule ip kube-proxy services ip daddr 10.9.9.9 tcp dport 99 accept',
      'add chain ip kube-proxy stranger',
      'delete element ip kube-proxy cluster-ips { 172.30.20.6 }',
      'flush table ip6 kube-proxy',
    ],
    lines: [
      'IPv4 (nftables)',
      '  default/web:http',
      '    + element ip kube-proxy cluster-ips { 172.30.20.6 }',
      '  of no single Service',
      '    - chain ip kube-proxy stranger',
      '    - rule ip kube-proxy services ip daddr 10.9.9.9 meta l4proto tcp th dport 99 accept',
      '    + rule ip kube-proxy nat-output jump services',
      'IPv6 (nftables)',
      '  of no single Service',
      /^ {4}\+ rule ip6 kube-proxy /,
    ],
  },
  iptables: {
    tool: ['iptables-nft-restore', '--noflush'],
    input: [
      '*nat',
      '-D PREROUTING 1',
      '-I KUBE-SERVICES -d 10.9.9.9/32 -j ACCEPT',
      '-F KUBE-NODEPORTS',
      'COMMIT',
      '*filter',
      ':KUBE-FORWARD - [0:0]',
      'COMMIT',
    ],
    lines: [
      'IPv4 (iptables)',
      '  default/web:http',
      /^ {4}\+ -t nat -A KUBE-NODEPORTS .*--dport 30186 .*-j KUBE-EXT-/,
      '  of no single Service',
      /^ {4}\+ -t nat -A PREROUTING .*-j KUBE-SERVICES$/,
      /^ {4}\+ -t filter -A KUBE-FORWARD /,
      /^ {4}- -t nat -A KUBE-SERVICES -d 10\.9\.9\.9\/32 -j ACCEPT$/,
    ],
  },
} as const;

describe.each(['nftables', 'iptables'] as const)('in mode %s', (mode) => {
  const { tool, input, lines } = damages[mode];
  const damage = (): Promise<string> => node.namespace.run([...tool], `${input.join('\n')}\n`);
  const ruleset = (): Promise<string> => node.namespace.run(['nft', 'list', 'ruleset']);

  it('compares the kernel with manifests, and changes nothing', async () => {
    const once = await node.run(['--once', ...(await flags(mode, web))]);
    expect(once.exitCode).toBe(0);
    expect(await plan(mode, web)).toMatchObject({ exitCode: 0, stdout: '' });

    const before = await ruleset();
    const coming = await plan(mode, other);
    expect(coming.exitCode).toBe(1);
    const told = coming.stdout.split('\n').filter((line) => /^ {4}/.test(line));
    expect(told.length).toBeGreaterThan(3);
    expect(told.filter((line) => !line.startsWith('    + '))).toEqual([]);
    expect(coming.stdout).toContain('\n  default/other:http\n');
    expect(coming.stdout).not.toContain('default/web');
    const named = await plan(mode, other, ['other:http', '-o', 'json']);
    expect(named.exitCode).toBe(1);
    const { families } = JSON.parse(named.stdout) as DifferenceReport;
    expect(families.flatMap(({ lines: all }) => all.map(({ servicePort }) => servicePort))).toContain(
      'default/other:http',
    );
    const unknown = await plan(mode, other, ['default/web']);
    expect(unknown).toMatchObject({ exitCode: 1, stdout: '' });
    expect(unknown.stderr).toContain('default/web: the plan has no such Service\n');

    await damage();
    const { exitCode, stdout } = await plan(mode, web);
    expect(exitCode).toBe(1);
    const found = stdout.trimEnd().split('\n');
    for (const line of lines)
      expect(found).toContainEqual(typeof line === 'string' ? line : expect.stringMatching(line));
    const expected = lines.map((line) =>
      typeof line === 'string' ? new RegExp(`^${escaped(line)}$`) : line,
    );
    expect(found.filter((line) => !expected.some((pattern) => pattern.test(line)))).toEqual([]);
    expect(before).not.toBe(await ruleset());
  });

  if (!sampleOf(['nftables', 'iptables']).includes(mode)) return;

  it('a running proxy tells what differs until it has repaired it', async () => {
    const proxy = await node.serve(await flags(mode, web));
    const diff = (): Promise<Ended> => node.run(['diff']);
    const differences = async (): Promise<DifferenceReport['families'][number]['lines']> => {
      const { body } = await node.host.get(`${metrics}/debug/diff`);
      return (JSON.parse(body) as DifferenceReport).families.flatMap(({ lines }) => lines);
    };
    expect(await differences()).toEqual([]);

    let told: Awaited<ReturnType<typeof differences>> = [];
    // It may repair the damage before it is asked.
    await until('a difference is told', async () => {
      await damage();
      told = await differences();
      return told.length > 0;
    });
    expect(told.map(({ servicePort }) => servicePort)).toContain('default/web:http');
    await until('everything is repaired', async () => (await differences()).length === 0);
    expect(await diff()).toEqual({ exitCode: 0, stdout: '', stderr: '' });

    await proxy.stop();
    expect(await diff()).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('no proxy answers') });
  });
});

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
