import { sampleOf } from '../support/nightly.js';
import { CommandNode } from '../support/program/command-node.js';
import { clusterObjects } from '../support/testbed/cluster-objects.js';
import { web } from '../support/testbed/two-services.js';
import { inspection, type Inspection } from '../../src/domain/migration/inspection.js';

const cluster = ['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];

let commands: CommandNode;
let objects: string;
beforeAll(async () => {
  commands = await CommandNode.open('inspect');
  objects = await commands.write('objects.yaml', clusterObjects([web]));
});
afterAll(() => commands.close());

const manifests = () => [...cluster, '--manifests', objects];

async function inspected(
  ...flags: readonly string[]
): Promise<{ exitCode: number | undefined; told: Inspection }> {
  const { exitCode, stdout } = await commands.run(['inspect', '-o', 'json', ...flags, ...manifests()]);
  return { exitCode, told: inspection(JSON.parse(stdout), '') };
}

it('finds nothing on a node without a proxy, and says what a mode would bring', async () => {
  const { told } = await inspected();
  expect(told).toEqual({ facts: expect.objectContaining({ rules: [], schedulers: [] }) });
  const { exitCode, told: planned } = await inspected('--plan', 'nftables');
  expect(exitCode).toBe(1);
  expect(planned.comparison!.families[0]).toMatchObject({ family: 'IPv4', mode: 'iptables' });
  expect(planned.comparison!.families[0]!.differences.map(({ service }) => service)).toContain('default/web');
});

it('compares with another mode, and tells what is left of that after a change', async () => {
  await commands.run(['--once', '--proxy-mode', 'nftables', ...manifests()]);
  const { exitCode, told } = await inspected('--plan', 'iptables');
  expect([exitCode, told.facts.rules.map(({ place }) => place)]).toEqual([0, ['nftables', 'nftables']]);
  const [family] = told.comparison!.families;
  expect(family).toMatchObject({ mode: 'nftables', differences: [], unknown: 0 });
  expect(family!.known.map(({ name }) => name)).toContain('other-ports');
  // A node where both are: the mode that runs is the one that is compared.
  const ruleset = await commands.namespace.run(['nft', 'list', 'ruleset']);
  await commands.run(['--once', '--proxy-mode', 'iptables', ...manifests()]);
  await commands.namespace.run(['nft', '-f', '-'], ruleset);
  const moved = await inspected('--plan', 'iptables', '--moved');
  expect(moved.exitCode).toBe(0);
  expect(moved.told.comparison!.families[0]).toMatchObject({ mode: 'iptables', different: 0, known: [] });
  expect(new Set(moved.told.facts.rules.map(({ place }) => place))).toEqual(
    new Set(['iptables-nft', 'nftables']),
  );
  const text = await commands.run(['inspect', ...manifests()]);
  expect(text.stdout).toMatch(/^kernel: {3}\S+\niptables: nft 1\.\d/);
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
    const { exitCode, told } = await inspected('--plan', mode);
    expect([exitCode, told.comparison!.families[0]]).toEqual([
      0,
      expect.objectContaining({ mode, different: 0, unknown: 0 }),
    ]);
    // What is in a proxy's chains counts.
    const lost =
      mode === 'iptables'
        ? ['iptables', '-t', 'nat', '-F', 'KUBE-SERVICES']
        : ['nft', 'delete', 'element', 'ip', 'kube-proxy', 'frontends', '{ 172.30.20.6 . tcp . 80 }'];
    await commands.namespace.run(lost);
    expect((await inspected('--plan', mode)).exitCode).toBe(1);
  },
);
