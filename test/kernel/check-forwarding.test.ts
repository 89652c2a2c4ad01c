import { execa } from 'execa';
import { parse, stringify } from 'yaml';
import { ProxyProcess, type ModeName } from '../support/program/proxy-process.js';
import { statusOf } from '../support/program/status.js';
import { clusterObjects, testConfig } from '../support/testbed/cluster-objects.js';
import { Testbed } from '../support/testbed/testbed.js';
import { until } from '../support/until.js';

/** Three checks take half a minute; a limit only ends a failure. Milliseconds. */
const LIMIT = 250_000;
const TEST_LIMIT = 600_000;
const config = stringify({ ...(parse(testConfig) as object), checkForwarding: true });
const ports = [{ name: 'tcp', protocol: 'TCP', port: 80, targetPort: 8080 }] as const;
const objects = clusterObjects([
  { name: 'web', clusterIP: '172.30.20.1', ports, endpoints: ['10.244.1.21'] },
  { name: 'web6', clusterIP: 'fd00:172:30::20', ports, endpoints: ['fd00:10:244:1::21'] },
]);

let testbed: Testbed;
let proxy: ProxyProcess | undefined;
beforeEach(async () => {
  testbed = await Testbed.open();
});
afterEach(async () => {
  await proxy?.remove();
  await testbed.close();
});

const get = (url: string) => testbed.node.get(`http://127.0.0.1:${url}`);

/** The families whose last check succeeded, and the number of failures of both. */
async function checks(): Promise<{ readonly successful: readonly string[]; readonly failures: number }> {
  const { body } = await get('10249/metrics');
  const values = (name: string) => [
    ...body.matchAll(
      new RegExp(String.raw`^kube_proxy_ts_forwarding_check_${name}\{ip_family="(\w+)"\} (\d+)$`, 'gm'),
    ),
  ];
  return {
    successful: values('successful').flatMap(([, family, value]) => (value === '1' ? [family!] : [])),
    failures: values('failures_total').reduce((sum, [, , value]) => sum + Number(value), 0),
  };
}

const bothSucceed = (): Promise<void> =>
  until('checks of both families succeed', async () => (await checks()).successful.length === 2, LIMIT);

/** `/healthz` and `/readyz`. */
const health = async (): Promise<readonly number[]> =>
  Promise.all(['healthz', 'readyz'].map(async (path) => (await get(`10256/${path}`)).status));

/** Waits until the proxy is not healthy, and answers why, as `status` shows it. */
async function reasonsOfFailure(): Promise<readonly string[]> {
  await until(
    'the proxy is not healthy',
    async () => (await health()).every((status) => status === 503),
    LIMIT,
  );
  await until(
    'checks of both families have failed three times',
    async () => (await checks()).failures >= 6,
    LIMIT,
  );
  return (await statusOf(testbed.node)).reasons;
}

const healthy = (): Promise<void> =>
  until('the proxy is healthy', async () => (await health()).every((status) => status === 200), LIMIT);

async function start(mode: ModeName): Promise<void> {
  proxy = await ProxyProcess.start({ host: testbed.node, mode, config, objects });
  await bothSucceed();
}

const CASES = [
  {
    mode: 'nftables',
    dropped: 'IPv4',
    drop: 'nft add table ip guard { chain out { type filter hook output priority 10; ct status dnat drop; }; }',
    undo: 'nft delete table ip guard',
    place: 'guard',
    stopped: 'IPv6',
    setting: 'net.ipv6.conf.all.forwarding',
  },
  {
    mode: 'iptables',
    dropped: 'IPv6',
    drop: 'ip6tables -A OUTPUT -m conntrack --ctstate DNAT -j DROP',
    undo: 'ip6tables -D OUTPUT -m conntrack --ctstate DNAT -j DROP',
    place: 'OUTPUT',
    stopped: 'IPv4',
    setting: 'net.ipv4.ip_forward',
  },
] as const;

it.each(CASES)(
  'checks both families in $mode mode, and reports a rule of another program and a setting that stop packets',
  async ({ mode, dropped, drop, undo, place, stopped, setting }) => {
    await start(mode);
    expect(await health()).toEqual([200, 200]);
    expect(await checks()).toMatchObject({ failures: 0 });
    const { state, warnings } = await statusOf(testbed.node);
    expect([state, warnings]).toEqual(['ok', []]);
    expect(await proxy!.answer('diff')).toMatchObject({ exitCode: 0 });
    expect(await proxy!.answer('compare', '--kernel', '--plan')).toMatchObject({ exitCode: 0 });

    await testbed.node.run(['sh', '-ec', drop.replace(/[{};]/g, '\\$&')]);
    await testbed.node.run(['sysctl', '-qw', `${setting}=0`]);
    const failed = 'the last checks of forwarding failed, at least 3 in a row';
    const reasons = await reasonsOfFailure();
    expect(reasons).toContain(`${dropped}: ${failed}: no answer within 5 s`);
    expect(reasons).toContainEqual(expect.stringContaining(`${stopped}: ${failed}: ${setting} is 0`));
    const cause = `${dropped}: the connections of the check meet a rule of another program, in `;
    expect(reasons.filter((reason) => reason.startsWith(cause) && reason.includes(place))).toHaveLength(1);
    expect(reasons.join()).not.toContain('as they should');
    expect(proxy!.log).toContain('ForwardingFailed');

    await testbed.node.run(['sh', '-ec', undo]);
    await testbed.node.run(['sysctl', '-qw', `${setting}=1`]);
    await healthy();
    expect(proxy!.log).toContain('ForwardingRecovered');
  },
  TEST_LIMIT,
);

it(
  'reports a program that flushes all rules again and again, until it ends and they are repaired',
  async () => {
    await start('nftables');
    const [file, ...args] = testbed.node.commandLine([
      'sh',
      '-c',
      'while nft flush ruleset; do sleep 0.2; done',
    ]);
    const flushing = execa(file!, args, { reject: false });
    try {
      expect(await reasonsOfFailure()).toContainEqual(
        expect.stringContaining('the last checks of forwarding'),
      );
      expect(proxy!.log).toContain('no rule leads connections to the frontend of the check');
    } finally {
      flushing.kill();
      await flushing;
    }
    await healthy();
  },
  TEST_LIMIT,
);

it(
  'has the same rules after a restart, other ports if these are in use, and no rules when it is off',
  async () => {
    await start('nftables');
    const frontends = async () => {
      const rules = await testbed.node.run(['nft', 'list', 'map', 'ip', 'kube-proxy', 'frontends']);
      return [...rules.matchAll(/127\.0\.0\.1 \. tcp \. (\d+)/g)].map(([, port]) => port);
    };
    expect(await frontends()).toEqual(['10266']);
    for (const signal of ['SIGKILL', 'SIGTERM'] as const) {
      await proxy!.stop(signal);
      expect(await frontends()).toEqual(['10266']);
      await proxy!.startAgain();
      await bothSucceed();
      const written = [...proxy!.log.matchAll(/"written":(\d+).*"programmed everything"/g)].map(
        ([, count]) => count,
      );
      expect(written.slice(-2)).toEqual(['0', '0']);
    }
    await proxy!.stop();
    await testbed.node.ask('serve', { name: 'other', port: 10_266 });
    await proxy!.startAgain();
    await bothSucceed();
    const [other] = await frontends();
    expect(other).not.toBe('10266');
    await proxy!.stop();
    expect(await frontends()).toEqual([]);
    await proxy!.remove();
    proxy = await ProxyProcess.start({ host: testbed.node, config: testConfig, objects });
    const rules = await testbed.node.run(['nft', 'list', 'ruleset']);
    expect(rules).not.toContain('127.0.0.1');
    expect(rules).not.toContain('forwarding.check');
  },
  TEST_LIMIT,
);
