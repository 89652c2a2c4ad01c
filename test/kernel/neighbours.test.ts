import { CommandNode } from '../support/program/command-node.js';
import { DriverBundle, type Driver } from '../support/program/in-namespace.js';
import { clusterObjects, type TestService } from '../support/testbed/cluster-objects.js';
import { contentsOf, readTable } from '../support/testbed/ruleset.js';
import { until } from '../support/until.js';
import type { RawMessage } from '../support/nftables/raw-message.js';
import type { NeighboursDriver } from './neighbours/driver.js';
import {
  catchAll,
  chain,
  CONNECTION_LIMIT,
  COUNTER,
  counterObject,
  DROP,
  element,
  elementWith,
  FAMILY,
  LAST,
  meteredSet,
  OBJECT_REFERENCE,
  QUOTA,
  rule,
  STRANGE_LINK,
  strangeTables,
  table,
  TABLE_FLAG,
} from './neighbours/strange-objects.js';

const web: TestService = {
  name: 'web',
  clusterIP: '172.30.20.6',
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30186 }],
  endpoints: ['10.244.1.11', '10.244.1.12'],
};
const other: TestService = {
  ...web,
  name: 'other',
  clusterIP: '172.30.20.7',
  ports: [{ ...web.ports[0]!, nodePort: 30187 }],
};

let bundle: DriverBundle<NeighboursDriver>;
let node: CommandNode;
let driver: Driver<NeighboursDriver>;

beforeAll(async () => {
  bundle = await DriverBundle.make<NeighboursDriver>(new URL('./neighbours/driver.ts', import.meta.url));
});
afterAll(() => bundle.remove());
beforeEach(async () => {
  node = await CommandNode.open('neighbours');
  driver = node.namespace.drive(bundle);
});
afterEach(() => node.close());

const flagsOf = async (mode: string, ...services: readonly TestService[]): Promise<readonly string[]> => {
  await node.write('objects.yaml', clusterObjects(services));
  const identity = ['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];
  return ['--proxy-mode', mode, ...identity, '--manifests', node.at('objects.yaml')];
};
const send = async (program: string, ...messages: readonly RawMessage[]): Promise<void> =>
  expect(await driver.ask('send', program, messages)).toEqual([]);
const nft = (...lines: readonly string[]): Promise<string> =>
  node.namespace.run(['nft', '-f', '-'], `${lines.join('\n')}\n`);
const inSync = (): Promise<void> =>
  until('diff tells nothing', async () => (await node.run(['diff'])).exitCode === 0);

/** What the proxy has written, as its mode is listed. */
async function ownRules(mode: string): Promise<unknown> {
  if (mode === 'iptables') {
    const saved = await node.namespace.run(['iptables-nft-save']);
    return saved.split('\n').filter((line) => !line.startsWith('#'));
  }
  const tables = await Promise.all([readTable(node.host, 'ip'), readTable(node.host, 'ip6')]);
  return tables.map(contentsOf);
}

describe.each(['nftables', 'iptables'])('in mode %s', (mode) => {
  it('tables of other programs, with what this one does not know, disturb nothing and stay as they are', async () => {
    const flags = await flagsOf(mode, web);
    const started = await node.run(['--once', ...flags]);
    expect(started.exitCode).toBe(0);
    const right = await ownRules(mode);
    await node.namespace.run(['ip', 'link', 'add', STRANGE_LINK, 'type', 'veth']);
    await send('neighbour', ...strangeTables());
    await send('owner', table(FAMILY.ip, 'owned', TABLE_FLAG.OWNER | TABLE_FLAG.PERSIST));
    const before = await driver.ask('dump', 'neighbour', 'owned');

    const proxy = await node.serve(flags);
    await inSync();
    expect(await ownRules(mode)).toEqual(right);
    await flagsOf(mode, web, other);
    await until('the other Service is there', async () =>
      JSON.stringify(await ownRules(mode)).includes(other.clusterIP),
    );
    await inSync();
    for (const kernel of [[], ['--kernel']]) {
      const to = `${other.clusterIP}:80`;
      const traced = await node.run(['trace', '--from', 'outside:198.18.0.50', '--to', to, ...kernel]);
      expect(traced).toMatchObject({ exitCode: 0, stderr: '' });
      for (const endpoint of other.endpoints) expect(traced.stdout).toContain(`${endpoint}:8080`);
    }
    await send('neighbour', chain(FAMILY.ip, 'neighbour', 'later'));
    await send('neighbour', { type: 0x0a05, flags: 0, family: FAMILY.ip, attributes: [[1, 'neighbour'], [3, 'later']] });
    await nft(mode === 'nftables' ? 'flush chain ip kube-proxy services' : 'flush chain ip nat KUBE-SERVICES');
    await until('the damage is repaired', async () =>
      JSON.stringify(await ownRules(mode)).includes(mode === 'nftables' ? 'classes' : other.clusterIP),
    );
    await inSync();
    await flagsOf(mode, web);
    await until('the other Service is gone', async () =>
      !JSON.stringify(await ownRules(mode)).includes(other.clusterIP),
    );
    await inSync();
    expect(proxy.log).not.toMatch(/"level":"(error|fatal)"/);
    await proxy.stop();
    expect(await driver.ask('dump', 'neighbour', 'owned')).toEqual(before);
    expect(await node.run(['--cleanup', ...flags])).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(await ownRules(mode))).not.toMatch(/KUBE-SERVICES|services/);
    expect(await driver.ask('dump', 'neighbour', 'owned')).toEqual(before);
  });
});
