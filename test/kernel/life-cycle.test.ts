import { execa } from 'execa';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import {
  serviceObjects,
  testNode,
  testServiceCidr,
  type TestService,
} from '../support/testbed/cluster-objects.js';
import { Command, type CommandOptions, type Ended } from '../support/program/command.js';
import { Host } from '../support/testbed/host.js';
import { readTable } from '../support/testbed/ruleset.js';
import { bundleStandIn, ServedNode, type StandInBundle } from '../support/program/served-node.js';
import { until } from '../support/until.js';

/** The start, the end, and what happens to a running program, seen from outside: the real program and an API server. */

const conntrack = 'net.netfilter.nf_conntrack_';
const procConntrack = '/proc/sys/net/netfilter/nf_conntrack_';

let bundle: StandInBundle;
let served: ServedNode;
let namespace: ServedNode['namespace'];
let node: ServedNode['node'];
let api: ServedNode['api'];
let kubeconfig: string;
let folder: string;
let proxy: Command | undefined;

beforeAll(async () => {
  bundle = await bundleStandIn();
  ({ namespace, node, api } = served = await ServedNode.open('life', bundle));
  await namespace.run(['ip', 'link', 'add', 'node0', 'type', 'veth', 'peer', 'name', 'node0p']);
  for (const address of ['198.51.100.11/24', '198.51.100.12/24'])
    await namespace.run(['ip', 'address', 'add', address, 'dev', 'node0']);
  for (const link of ['node0', 'node0p']) await namespace.run(['ip', 'link', 'set', link, 'up']);
});
afterAll(async () => {
  await served.close();
  await bundle.remove();
});
beforeEach(async () => {
  proxy = undefined;
  folder = await mkdtemp(join(tmpdir(), 'life-cycle-'));
  kubeconfig = await served.renew();
});
afterEach(async () => {
  if (proxy?.running) await proxy.stop('SIGKILL');
  await namespace.run(['sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=0']);
  await rm(folder, { recursive: true });
});

const web = (number: number): TestService => ({
  name: `web-${number}`,
  clusterIP: `172.30.0.${number}`,
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
  endpoints: [`10.244.1.${number}`],
});
const put = (...objects: readonly object[]): Promise<void> => api.ask('put', objects as never);
const cluster = (...numbers: readonly number[]): object[] => [
  testNode,
  testServiceCidr,
  ...numbers.flatMap((number) => serviceObjects(web(number))),
];
const flags = (...more: readonly string[]): string[] => [
  ...['--kubeconfig', kubeconfig, '--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'],
  ...['--proxy-mode', 'nftables', '--logging-format', 'json', '-v', '2'],
  ...more,
];

async function start(more: readonly string[] = [], options: CommandOptions = {}): Promise<Command> {
  return (proxy = await Command.start(node, flags(...more), options));
}

const run = (more: readonly string[], options: CommandOptions = {}): Promise<Ended> =>
  Command.run(node, flags(...more), options);

async function elements(name: string): Promise<readonly string[]> {
  return (await readTable(node)).get(name)?.elements ?? [];
}

/** Until the kernel serves exactly these. */
async function serves(...numbers: readonly number[]): Promise<void> {
  const holds = async (): Promise<boolean> => {
    expect(await elements('set cluster-ips')).toEqual(numbers.map((number) => `172.30.0.${number}`));
    return true;
  };
  await (proxy ?? { until }).until('the kernel serves these services', holds);
}

const tables = (): Promise<string> => namespace.run(['nft', 'list', 'tables']);
const eventOf = async (reason: string) => (await api.ask('events')).find((event) => event.reason === reason);

describe('the start', () => {
  it('tells the cluster, sets what the configuration asks of the machine and the process', async () => {
    await namespace.run(['sysctl', '-qw', `${conntrack}tcp_timeout_established=1000`]);
    await put(...cluster(1));
    const limit = await readFile(`${procConntrack}max`, 'utf8');
    // Scores below zero need a capability that a test must not count on.
    await start([
      ...['--conntrack-udp-timeout', '45s', '--conntrack-tcp-be-liberal'],
      ...['--conntrack-min', String(Number(limit) + 1), '--oom-score-adj', '500'],
    ]);
    await serves(1);
    const names = ['tcp_timeout_established', 'tcp_timeout_close_wait', 'tcp_be_liberal', 'udp_timeout'];
    const set = await namespace.run(['sysctl', '-n', ...names.map((name) => conntrack + name)]);
    expect(set.split('\n')).toEqual(['86400', '3600', '1', '45']);
    expect(await readFile(`/proc/${proxy!.pid}/oom_score_adj`, 'utf8')).toBe('500\n');
    // The limit is the machine's, and this is not its own network namespace.
    expect(await readFile(`${procConntrack}max`, 'utf8')).toBe(limit);
    expect(proxy!.log).toContain('belongs to another network namespace');

    await until('the event is there', async () => (await eventOf('Starting')) !== undefined);
    expect(await eventOf('Starting')).toMatchObject({
      apiVersion: 'events.k8s.io/v1',
      metadata: { namespace: 'default', name: expect.stringMatching(/^node1\.[0-9a-f]{16}$/) },
      eventTime: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
      reportingController: 'kube-proxy',
      reportingInstance: `kube-proxy-${hostname()}`,
      action: 'StartKubeProxy',
      regarding: { apiVersion: 'v1', kind: 'Node', name: 'node1' },
      note: '',
      type: 'Normal',
    });
    expect(await proxy!.stop()).toMatchObject({ exitCode: 0 });
  });

  it('goes on where /sys is read-only, and tells the cluster', async () => {
    await writeFile(join(folder, 'max'), '1000');
    await writeFile(join(folder, 'hashsize'), '250');
    const hashSize = '/sys/module/nf_conntrack/parameters/hashsize';
    const prepare = `
      mount --bind ${folder}/max ${procConntrack}max
      mount --bind ${folder}/hashsize ${hashSize}
      mount -o remount,bind,ro ${hashSize}`;
    await put(...cluster(1));
    await start(['--conntrack-max-per-core', '1', '--conntrack-min', '2000'], { prepare });
    await serves(1);
    expect(await readFile(join(folder, 'max'), 'utf8')).toBe('2000');
    expect(await readFile(join(folder, 'hashsize'), 'utf8')).toBe('250');
    await until('the event is there', async () => (await eventOf('readOnlySysFS')) !== undefined);
    expect(await eventOf('readOnlySysFS')).toMatchObject({
      type: 'Warning',
      regarding: { kind: 'Node', name: 'node1' },
      note: expect.stringMatching(/cannot raise \S*hashsize from 250 to 500 .*EROFS/),
    });
  });

  it.each([
    [
      'a sysctl that cannot be set',
      [],
      { prepare: 'mount --bind /proc/sys /proc/sys && mount -o remount,bind,ro /proc/sys' },
      /could not set conntrack parameters from kube-proxy configuration: .*tcp_timeout_established.*EROFS/,
    ],
    [
      'a primary family that cannot be served',
      ['--bind-address', 'fd00::9'],
      { prepare: 'sysctl -qw net.ipv6.conf.all.disable_ipv6=1' },
      /no support for primary IP family \\"IPv6\\"/,
    ],
    [
      'a pod network of the wrong family',
      ['--cluster-cidr', 'fd00::/48'],
      { prepare: 'sysctl -qw net.ipv6.conf.all.disable_ipv6=1' },
      /kube-proxy configuration is incorrect: cluster is IPv4-only but clusterCIDRs contains only IPv6/,
    ],
  ])('%s ends it with 1 and the reason, and no rule is written', async (_, more, options, reason) => {
    await namespace.run(['sysctl', '-qw', `${conntrack}tcp_timeout_established=1000`]);
    await put(...cluster(1));
    const { exitCode, stderr } = await run(more, options);
    expect(stderr).toMatch(reason);
    expect(exitCode).toBe(1);
    expect(await tables()).toBe('');
  });

  it('a port that is taken ends it where that shall be fatal, and the cluster is told', async () => {
    await put(...cluster(1));
    const squatter = new Host(namespace.name);
    await squatter.ask('serve', { name: 'squatter', port: 10256 });
    const { exitCode, stderr } = await run(['--bind-address-hard-fail']);
    await squatter.killAgent();
    expect(stderr).toContain('healthz server failed');
    expect(exitCode).toBe(1);
    expect(await eventOf('FailedToStartProxierHealthcheck')).toMatchObject({
      type: 'Warning',
      action: 'StartKubeProxy',
      note: expect.stringContaining('EADDRINUSE'),
    });
  });
});

describe('while it runs', () => {
  const watching = (): Promise<void> =>
    until('all watches are open', async () => (await api.ask('openWatches')) === 4);

  it('follows a token that is rotated, a new authority with which the server comes back, and addresses', async () => {
    await put(...cluster(1));
    await start();
    await serves(1);
    await watching();
    await api.ask('rotateToken', 'another');
    await api.ask('disconnectWatches');
    await put(...serviceObjects(web(2)));
    await serves(1, 2);

    await watching();
    await api.ask('rotateAuthority');
    await put(...serviceObjects(web(3)));
    await api.ask('open');
    await serves(1, 2, 3);

    expect(await elements('set nodeport-ips')).toEqual(['198.51.100.11']);
    const addresses = [{ type: 'InternalIP', address: '198.51.100.12' }];
    await put({ ...testNode, status: { addresses } });
    await until(
      'the rules follow',
      async () => String(await elements('set nodeport-ips')) === '198.51.100.12',
    );
  });
});

describe('the end', () => {
  /** Five seconds, and leave for a busy machine. The kubelet kills after thirty. */
  const GRACE = 20_000;

  /** Ends it with a signal; answers how long that took, in milliseconds. */
  async function endedAfter(): Promise<number> {
    const asked = Date.now();
    expect(await proxy!.stop('SIGTERM')).toMatchObject({ exitCode: 0 });
    return Date.now() - asked;
  }
  const pipe = async (name: string): Promise<string> => {
    await namespace.run(['mkfifo', join(folder, name)]);
    return join(folder, name);
  };
  const alive = (): Promise<void> =>
    until('it is alive', async () => (await node.get('http://127.0.0.1:10256/livez')).status === 200);
  const told = (text: string): Promise<void> =>
    until(`the log tells: ${text}`, () => Promise.resolve(proxy!.log.includes(text)));
  /** The kubeconfig with another user, and another server if one is named. */
  async function kubeconfigOf(user: object, server?: string): Promise<string> {
    const config = JSON.parse(await readFile(kubeconfig, 'utf8')) as {
      users: { user: object }[];
      clusters: { cluster: object }[];
    };
    config.users[0]!.user = user;
    if (server !== undefined) config.clusters[0]!.cluster = { server };
    const file = join(dirname(kubeconfig), 'edited');
    await writeFile(file, JSON.stringify(config));
    return file;
  }

  it('comes within five seconds although an exec plugin hangs at the start, which is killed', async () => {
    const command = join(folder, 'plugin');
    await writeFile(command, `#!/bin/sh\necho $$ > ${folder}/pid\nsleep 1000\n`, { mode: 0o755 });
    const apiVersion = 'client.authentication.k8s.io/v1';
    await start(['--kubeconfig', await kubeconfigOf({ exec: { apiVersion, command } })]);
    await until('the plugin runs', async () => (await readFile(join(folder, 'pid'), 'utf8')) !== '');
    expect(await endedAfter()).toBeLessThan(GRACE);
    const pid = (await readFile(join(folder, 'pid'), 'utf8')).trim();
    await until('the plugin is gone', () => Promise.resolve(!existsSync(`/proc/${pid}`)));
  });

  it('comes within five seconds although a token cannot be read to its end', async () => {
    await start(['--kubeconfig', await kubeconfigOf({ tokenFile: await pipe('token') })]);
    await alive();
    expect(await endedAfter()).toBeLessThan(GRACE);
  });

  it('comes within five seconds although an API server takes a request and does not answer', async () => {
    const silent = "require('node:net').createServer(() => {}).listen(6000, '127.0.0.1')";
    const [command, ...args] = node.commandLine([process.execPath, '-e', silent]);
    const server = execa(command!, args, { reject: false });
    try {
      await start(['--kubeconfig', await kubeconfigOf({}, 'http://127.0.0.1:6000')]);
      await alive();
      const connected = async (): Promise<boolean> =>
        (await namespace.run(['ss', '-Htn', 'state', 'established', 'dport', '=', ':6000'])) !== '';
      await until('it is connected', connected);
      expect(await endedAfter()).toBeLessThan(GRACE);
    } finally {
      server.kill();
      await server;
    }
  });

  it('comes within five seconds although a tool hangs, whose part is named; at once with a second signal', async () => {
    const hanging = join(folder, 'hanging');
    const tool = `#!/bin/sh\n[ ! -e ${hanging} ] || exec sleep 1000\nPATH=\${PATH#*:} exec "\${0##*/}" "$@"\n`;
    for (const variant of ['nft', 'legacy'])
      await writeFile(join(folder, `iptables-${variant}-restore`), tool, { mode: 0o755 });
    const startHanging = async (...numbers: readonly number[]): Promise<void> => {
      await rm(hanging, { force: true });
      await start(['--proxy-mode', 'iptables'], { env: { PATH: `${folder}:${process.env.PATH}` } });
      await told('programmed everything');
      await writeFile(hanging, '');
      await put(...cluster(...numbers));
      await until('a restore hangs', async () => (await readdir('/proc')).some(isHanging));
    };
    const isHanging = (pid: string): boolean => {
      try {
        return (
          readFileSync(`/proc/${pid}/environ`, 'utf8').includes(folder) &&
          readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep')
        );
      } catch {
        return false;
      }
    };
    await put(...cluster(1));
    await startHanging(1, 2);
    expect(await endedAfter()).toBeLessThan(GRACE);
    expect(proxy!.log).toContain('"part":"sync loops"');

    await startHanging(1, 3);
    proxy!.signal('SIGTERM');
    await told('stopping');
    const asked = Date.now();
    expect(await proxy!.stop('SIGINT')).toMatchObject({ exitCode: 1 });
    // The first signal alone would end it after four seconds, with status 0.
    expect(Date.now() - asked).toBeLessThan(GRACE);
  });
});
