import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from '../support/program/command.js';
import { Namespace } from '../support/program/in-namespace.js';
import { Host } from '../support/testbed/host.js';
import { until } from '../support/until.js';

const page = readFileSync('docs/troubleshooting.md', 'utf8');
const objects = resolve('test/kernel/troubleshooting/objects.json');
const flags = ['--proxy-mode', 'nftables', '--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];

/** Each command on the page, with the lines that are shown of its output. */
const examples = Array.from(
  page.matchAll(/^```\n\$ kubeproxy (.*)\n([^`]*)```$/gm),
  ([, command = '', shown = '']) => ({ command, shown: shown.split('\n').filter(Boolean) }),
);

/** Another program drops what goes to an endpoint, and flushes a chain that it should not. */
const OTHERS = `
table inet fw {
  chain forward { type filter hook forward priority 0; ip daddr 10.244.1.51 drop; }
}
flush chain ip kube-proxy services
`;

let namespace: Namespace;
let node: Host;
let proxy: Command;

beforeAll(async () => {
  namespace = await Namespace.open('trouble');
  node = new Host(namespace.name);
  proxy = await Command.start(node, [...flags, '--manifests', objects]);
  const said = async (...words: readonly string[]) => (await Command.run(node, words)).stdout;
  await until('everything is programmed', async () =>
    (await said('services')).includes('belong to other Services'),
  );
  await namespace.run(['nft', '-f', '-'], OTHERS);
  await until('the chain is repaired', async () => (await said('history')).includes('repaired'));
});

afterAll(async () => {
  if (proxy?.running) await proxy.stop('SIGKILL');
  await node.killAgent();
  await namespace.close();
});

it('the page has examples', () => {
  expect(examples.length).toBeGreaterThan(10);
});

it.each(examples)('kubeproxy $command', async ({ command, shown }) => {
  const { stdout, stderr } = await Command.run(node, command.split(' '));
  const lines = [...stdout.split('\n'), ...stderr.split('\n')].filter(Boolean);
  if (shown.length === 0) expect(lines).toEqual([]);
  for (const line of shown) expect(lines).toContainEqual(expect.stringMatching(patternOf(line)));
});

/** Runs of spaces line columns up, and `…` stands for anything. */
function patternOf(line: string): RegExp {
  const parts = line.split('…').map(escaped);
  return new RegExp(`^${parts.join('.*').replace(/ +/g, ' +')}$`);
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&');
}
