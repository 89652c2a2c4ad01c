import type { DifferenceReport } from '../../src/diagnostics/application/difference/difference-report.js';
import { sampleOf } from '../support/nightly.js';
import { CommandNode } from '../support/program/command-node.js';
import { DriverBundle, type Driver } from '../support/program/in-namespace.js';
import { clusterObjects, type TestService } from '../support/testbed/cluster-objects.js';
import { contentsOf, readTable } from '../support/testbed/ruleset.js';
import { other, web } from '../support/testbed/two-services.js';
import { until } from '../support/until.js';
import type { RawMessage } from '../support/nftables/raw-message.js';
import type { NeighboursDriver } from './neighbours/driver.js';
import {
  chain,
  CONNECTION_LIMIT,
  COUNTER,
  counterObject,
  deletion,
  DROP,
  element,
  elementWith,
  FAMILY,
  flushRuleset,
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
/** The proxy itself is asked, since to start a program for each look costs much; the command asks the same. */
const inSync = (): Promise<void> =>
  until('the kernel has nothing otherwise than it should be', async () => {
    const { body } = await node.host.get('http://127.0.0.1:10249/debug/diff');
    const { families } = JSON.parse(body) as DifferenceReport;
    return families.every(({ lines, problem }) => lines.length === 0 && problem === undefined);
  });

/** What the proxy has written, as its mode is listed. */
async function ownRules(mode: string): Promise<unknown> {
  if (mode === 'iptables') {
    const saved = await node.namespace.run(['iptables-nft-save']);
    return saved.split('\n').filter((line) => !line.startsWith('#'));
  }
  const tables = await Promise.all([readTable(node.host, 'ip'), readTable(node.host, 'ip6')]);
  return tables.map(contentsOf);
}

describe.each(sampleOf(['nftables', 'iptables']))('in mode %s', (mode) => {
  it('tables of other programs, with what this one does not know, disturb nothing and stay as they are', async () => {
    const flags = await flagsOf(mode, web);
    const started = await node.run(['--once', ...flags]);
    expect(started.exitCode).toBe(0);
    const right = await ownRules(mode);
    await node.namespace.run(['ip', 'link', 'add', STRANGE_LINK, 'type', 'veth']);
    await send('neighbour', ...strangeTables());
    await send('owner', table(FAMILY.ip, 'owned', TABLE_FLAG.OWNER | TABLE_FLAG.PERSIST));
    const before = await driver.ask('dump', ['neighbour', 'owned']);

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
    await nft('delete chain ip neighbour later');
    await nft(
      mode === 'nftables' ? 'flush chain ip kube-proxy services' : 'flush chain ip nat KUBE-SERVICES',
    );
    await until('the damage is repaired', async () =>
      JSON.stringify(await ownRules(mode)).includes(mode === 'nftables' ? 'classes' : other.clusterIP),
    );
    await inSync();
    await flagsOf(mode, web);
    await until(
      'the other Service is gone',
      async () => !JSON.stringify(await ownRules(mode)).includes(other.clusterIP),
    );
    await inSync();
    expect(await node.run(['diff'])).toMatchObject({ exitCode: 0, stderr: '' });
    expect(proxy.log).not.toMatch(/"level":"(error|fatal)"/);
    await proxy.stop();
    expect(await driver.ask('dump', ['neighbour', 'owned'])).toEqual(before);
    expect(await node.run(['--cleanup', ...flags])).toMatchObject({ exitCode: 0 });
    expect(JSON.stringify(await ownRules(mode))).not.toMatch(/KUBE-SERVICES|services/);
    expect(await driver.ask('dump', ['neighbour', 'owned'])).toEqual(before);
  });
});

/** What other programs do to our table, each so that packets would go astray. */
const OURS = 'kube-proxy';
const damages: readonly (readonly [what: string, damage: () => Promise<unknown>])[] = [
  [
    'a rule of expressions that are not known',
    () => send('neighbour', rule(FAMILY.ip, OURS, 'services', [LAST, DROP], true)),
  ],
  ['a chain without a name', () => nft('insert rule ip kube-proxy services jump { drop; }')],
  [
    'a set with expressions, and a rule with limits',
    () =>
      send(
        'neighbour',
        meteredSet(FAMILY.ip, OURS, 'meters'),
        element(FAMILY.ip, OURS, 'meters', elementWith('0a000001', COUNTER, LAST)),
        rule(FAMILY.ip, OURS, 'services', [CONNECTION_LIMIT, QUOTA, DROP]),
      ),
  ],
  [
    'an element of ours with an expression',
    async () => {
      await nft('delete element ip kube-proxy cluster-ips { 172.30.20.6 }');
      await send(
        'neighbour',
        element(FAMILY.ip, OURS, 'cluster-ips', elementWith('ac1e1406', CONNECTION_LIMIT)),
      );
    },
  ],
  ['an element for all keys', () => nft('add element ip kube-proxy frontends { * : 5000:3 }')],
  [
    'an element for all keys in a set that is not listed, which makes the proxy itself unreachable',
    () => nft('add element ip kube-proxy cluster-ips { * }'),
  ],
  ['sleep', () => send('neighbour', table(FAMILY.ip, OURS, TABLE_FLAG.DORMANT))],
  [
    'a base chain that drops everything',
    () => nft('add chain ip kube-proxy odd { type filter hook input priority -300; policy drop; }'),
  ],
];

describe('what another program puts into the table itself', () => {
  it('is removed, whatever it is', async () => {
    await node.serve(await flagsOf('nftables', web));
    const right = await ownRules('nftables');
    for (const [what, damage] of damages) {
      await damage();
      await until(`it is repaired after ${what}`, async () => {
        expect({ [what]: await ownRules('nftables') }).toEqual({ [what]: right });
        const [flags] = await driver.ask('flags', OURS);
        return flags === 0;
      });
    }
    await inSync();
  });

  it('stays if it is an object that no rule refers to any more, and goes with the table', async () => {
    const flags = await flagsOf('nftables', web);
    const proxy = await node.serve(flags);
    const right = await ownRules('nftables');
    await send(
      'neighbour',
      counterObject(FAMILY.ip, OURS),
      rule(FAMILY.ip, OURS, 'services', [OBJECT_REFERENCE, DROP], true),
    );
    await until('the rule is removed', async () => {
      expect(await ownRules('nftables')).toMatchObject(right as object);
      return true;
    });
    await inSync();
    await proxy.stop();
    expect(await node.run(['--cleanup', ...flags])).toMatchObject({ exitCode: 0 });
    expect(await driver.ask('flags', OURS)).toEqual([]);
  });
});

/** Why our tables have no owner, which would keep them from `flush ruleset` (docs/internals/nftables.md). */
describe('a table that has an owner and persists', () => {
  const flags = TABLE_FLAG.OWNER | TABLE_FLAG.PERSIST;
  const ours = table(FAMILY.ip, OURS, flags);
  const theirs = table(FAMILY.ip, OURS);
  const tried = (program: string, ...messages: readonly RawMessage[]): Promise<readonly string[]> =>
    driver.ask('send', program, messages);

  it('cannot be given back to kube-proxy, even when its owner has ended', async () => {
    expect(await tried('kube-proxy', theirs)).toEqual([]);
    expect(await tried('proxy', ours)).toEqual(['EOPNOTSUPP']);
    expect(await tried('proxy', deletion(OURS), ours)).toEqual([]);
    expect(await tried('kube-proxy', flushRuleset)).toEqual([]);
    expect(await driver.ask('flags', OURS)).toEqual([flags]);

    expect(await tried('kube-proxy', theirs)).toEqual(['EPERM']);
    expect(await tried('cleanup', deletion(OURS))).toEqual(['EPERM']);
    expect(await tried('second socket', chain(FAMILY.ip, OURS, 'more'))).toEqual(['EPERM']);

    await driver.ask('close', 'proxy');
    expect(await driver.ask('flags', OURS)).toEqual([TABLE_FLAG.PERSIST]);
    expect(await tried('kube-proxy', theirs)).toEqual(['EOPNOTSUPP']);
    expect(await tried('restarted', ours)).toEqual([]);
    await driver.ask('close', 'restarted');
    expect(await tried('kube-proxy', flushRuleset)).toEqual([]);
    expect(await driver.ask('flags', OURS)).toEqual([]);
  });
});

it('after flush ruleset everything is back', async () => {
  await node.serve(await flagsOf('nftables', web));
  const right = await ownRules('nftables');
  await nft('flush ruleset');
  await until(
    'everything is back',
    async () => JSON.stringify(await ownRules('nftables')) === JSON.stringify(right),
  );
  await inSync();
});

it.each(sampleOf(['nft', 'legacy'] as const))(
  'status warns of rules of the other variant where the proxy uses iptables-%s, and only then',
  async (used) => {
    const unused = used === 'nft' ? 'legacy' : 'nft';
    // What a kubelet leaves, by which programs choose.
    await node.namespace.run([`iptables-${used}`, '-t', 'mangle', '-N', 'KUBE-IPTABLES-HINT']);
    const flags = await flagsOf('iptables', web);
    const proxy = await node.serve(flags);
    expect((await node.run(['status'])).stdout).not.toContain('warning:');
    await proxy.stop();
    await node.namespace.run([
      `iptables-${unused}`,
      '-t',
      'nat',
      '-A',
      'PREROUTING',
      '-p',
      'udp',
      '-j',
      'ACCEPT',
    ]);
    await node.serve(flags);
    await until('it is good all the same', async () => {
      const { exitCode, stdout } = await node.run(['status']);
      expect(stdout).toContain(`there are rules of iptables-${unused} (IPv4: in nat)`);
      return exitCode === 0;
    });
  },
);
