import { sampleOf } from '../support/nightly.js';
import { CommandNode } from '../support/program/command-node.js';
import { clusterObjects } from '../support/testbed/cluster-objects.js';
import { web } from '../support/testbed/two-services.js';
import type { ComparisonResult } from '../../src/diagnostics/application/comparison-report.js';

const cluster = ['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];

let commands: CommandNode;
let objects: string;
beforeAll(async () => {
  commands = await CommandNode.open('cmpnode');
  objects = await commands.write('objects.yaml', clusterObjects([web]));
});
afterAll(() => commands.close());

const manifests = () => [...cluster, '--manifests', objects];

interface Compared {
  readonly exitCode: number | undefined;
  readonly result: ComparisonResult;
}

async function compared(...flags: readonly string[]): Promise<Compared> {
  const words = ['compare', '--kernel', '--proxies-only', '-o', 'json', ...flags, ...manifests()];
  const { exitCode, stdout } = await commands.run(words);
  return { exitCode, result: JSON.parse(stdout) as ComparisonResult };
}

it('lists no rules on a node without a proxy, and what a mode would bring', async () => {
  const { exitCode, result } = await compared();
  expect([exitCode, result]).toEqual([
    0,
    { nodeRules: expect.objectContaining({ rules: [], schedulers: [] }) },
  ]);
  const planned = await compared('--plan', 'nftables', '--limit', '1');
  expect(planned.exitCode).toBe(1);
  const [family] = planned.result.families;
  expect(family).toMatchObject({ family: 'IPv4', modes: ['iptables', 'nftables'] });
  expect(family!.differences.filter(({ knownDifference }) => knownDifference === undefined)).toEqual([
    expect.objectContaining({ service: 'default/web' }),
  ]);
  expect(family!.omitted).toBeGreaterThan(0);
});

it('compares with another mode, and lists the rules of both', async () => {
  await commands.run(['--once', '--proxy-mode', 'nftables', ...manifests()]);
  const { result } = await compared('--plan', 'iptables');
  expect(result.nodeRules!.rules.map(({ place }) => place)).toEqual(['nftables', 'nftables']);
  const [family] = result.families;
  expect(family).toMatchObject({ modes: ['nftables', 'iptables'], unknownClasses: 0 });
  expect(family!.differences.filter(({ knownDifference }) => knownDifference === undefined)).toEqual([]);
  expect(family!.knownDifferences.map(({ name }) => name)).toContain('other-ports');
  const ruleset = await commands.namespace.run(['nft', 'list', 'ruleset']);
  await commands.run(['--once', '--proxy-mode', 'iptables', ...manifests()]);
  await commands.namespace.run(['nft', '-f', '-'], ruleset);
  const text = await commands.run(['compare', '--kernel', ...manifests()]);
  expect(text.stdout).toMatch(
    /^kernel: {3}\S+\niptables: nft 1\.\S+\nrules: {4}iptables-nft \(IPv4\): \d+\n.*\nrules: {4}nftables \(IPv4\): \d+\n/,
  );
});

it.each(sampleOf(['iptables', 'nftables']))(
  'leaves rules of other programs out, in mode %s',
  async (mode) => {
    await commands.namespace.run(['nft', 'flush', 'ruleset']);
    await commands.run(['--once', '--proxy-mode', mode, ...manifests()]);
    const others = [
      '-P FORWARD DROP',
      '-t nat -I POSTROUTING -s 10.244.0.0/16 -j MASQUERADE',
      '-N CALICO',
      '-I FORWARD -j CALICO',
    ];
    for (const rule of others) await commands.namespace.run(['iptables', ...rule.split(' ')]);
    await commands.namespace.run(['nft', 'add table ip other']);
    await commands.namespace.run(['nft', 'add chain ip other in { type filter hook forward priority 0; }']);
    await commands.namespace.run(['nft', 'add rule ip other in ip daddr 10.244.1.11 drop']);
    const { exitCode, result } = await compared('--plan', mode);
    expect([exitCode, result.families[0]]).toEqual([
      0,
      expect.objectContaining({ modes: [mode, mode], differentClasses: 0, unknownClasses: 0 }),
    ]);
    // What is in a proxy's chains counts.
    const lost =
      mode === 'iptables'
        ? ['iptables', '-t', 'nat', '-F', 'KUBE-SERVICES']
        : ['nft', 'delete', 'element', 'ip', 'kube-proxy', 'frontends', '{ 172.30.20.6 . tcp . 80 }'];
    await commands.namespace.run(lost);
    expect((await compared('--plan', mode)).exitCode).toBe(1);
  },
);
