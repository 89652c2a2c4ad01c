import { readFile } from 'node:fs/promises';
import { CommandNode } from '../support/program/command-node.js';
import { clusterObjects } from '../support/testbed/cluster-objects.js';
import { web } from '../support/testbed/two-services.js';

const cluster = ['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];
/** kube-proxy's own table. */
const AFFINITY = new URL(
  '../conformance/scenarios/session-affinity/expected/nftables/nft-ip-1.txt',
  import.meta.url,
);

let commands: CommandNode;
let objects: string;
beforeAll(async () => {
  commands = await CommandNode.open('cmp');
  objects = await commands.write('objects.yaml', clusterObjects([web]));
});
afterAll(() => commands.close());

const identity = (mode: string) => ['--proxy-mode', mode, ...cluster, '--manifests', objects];
const compare = (mode: string) => commands.run(['compare', '--kernel', '--plan', ...identity(mode)]);

/** Has the mode program everything, and its kernel compared with a plan. */
async function isAsPlanned(mode: string): Promise<void> {
  expect((await commands.run([...identity(mode), '--once'])).exitCode).toBe(0);
  const equal = await compare(mode);
  expect(equal.stdout).toMatch(
    new RegExp(`^IPv4: kernel \\(${mode}\\) and plan \\(${mode}\\): \\d+ classes`, 'm'),
  );
  if (equal.exitCode !== 0) throw new Error(equal.stdout);
}

it('compares what the kernel has in mode iptables with a plan', () => isAsPlanned('iptables'));

it('compares what it has in mode nftables, and finds a rule that another program added, and an element that is missing', async () => {
  await isAsPlanned('nftables');
  const { namespace } = commands;
  await namespace.run(['nft', 'add table ip other']);
  await namespace.run(['nft', 'add chain ip other in { type filter hook input priority 0; }']);
  await namespace.run(['nft', 'add rule ip other in tcp dport 2222 drop']);
  const { exitCode, stdout } = await compare('nftables');
  expect(exitCode).toBe(1);
  expect(stdout).toContain(':2222/TCP');
  expect(stdout).toContain('kernel (nftables): drop');
  await namespace.run(['nft', 'delete table ip other']);
  expect((await compare('nftables')).exitCode).toBe(0);
  const recorded = await readFile(AFFINITY, 'utf8');
  await namespace.run(['nft', 'delete table ip kube-proxy']);
  await namespace.run(['nft', '-f', '-'], recorded);
  const dump = await commands.write('affinity.nft', recorded);
  // What nft lists means the same as what the kernel has, affinity and its time included.
  const { exitCode: same, stdout: told } = await commands.run(['compare', '--kernel', '--dump', dump]);
  expect([same, told]).toEqual([0, expect.stringContaining(' 0 different, 0 unknown')]);
  const json = await commands.write('affinity.json', await namespace.run(['nft', '-j', 'list', 'ruleset']));
  expect(await commands.run(['compare', '--dump', json, '--dump', dump])).toMatchObject({ exitCode: 0 });
  await namespace.run(['nft', 'delete element ip kube-proxy cluster-ips { 172.30.10.10 }']);
  const lacking = await commands.run(['compare', '--kernel', '--dump', dump]);
  expect([lacking.exitCode, lacking.stdout]).toEqual([1, expect.stringContaining('172.30.10.10:80/TCP')]);
});
