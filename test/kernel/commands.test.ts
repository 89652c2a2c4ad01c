import { execa } from 'execa';
import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { program } from '../../src/adapters/iptables/variants.js';
import { parseSave } from '../support/iptables/parse-save.js';
import { IP_FAMILIES } from '../../src/domain/net/ip-family.js';
import { comparableTables } from '../support/recorded/comparable-tables.js';
import { sampleOf } from '../support/nightly.js';
import { readScenario } from '../support/recorded/scenarios.js';
import { builtProxy } from '../support/program/built-proxy.js';
import { clusterObjects } from '../support/testbed/cluster-objects.js';
import { CommandNode } from '../support/program/command-node.js';
import type { Command, CommandOptions, Ended } from '../support/program/command.js';
import type { Host } from '../support/testbed/host.js';
import { TableOwner } from '../support/testbed/table-owner.js';
import type { Namespace } from '../support/program/in-namespace.js';
import { contentsOf, readTable } from '../support/testbed/ruleset.js';
import { other, web } from '../support/testbed/two-services.js';
import { until } from '../support/until.js';

const health = 'http://127.0.0.1:10256';
const metrics = 'http://127.0.0.1:10249';

/** Of a cluster that kubeadm made; only the network is the test's. */
const kubeadmConfiguration = new URL('../bootstrap/configuration/installers/kubeadm.yaml', import.meta.url);

let commands: CommandNode;
let namespace: Namespace;
let node: Host;

beforeEach(async () => {
  commands = await CommandNode.open('cmd');
  ({ namespace, host: node } = commands);
});
afterEach(() => commands.close());

const at = (name: string): string => commands.at(name);
const run = (args: readonly string[], options?: CommandOptions): Promise<Ended> =>
  commands.run(args, options);
const manifest = (name: string, text: string): Promise<string> => commands.write(name, text);
const cluster = ['--hostname-override', 'node1', '--cluster-cidr', '10.244.0.0/16'];
const identity = ['--proxy-mode', 'nftables', ...cluster];
const ruleset = (): Promise<string> => namespace.run(['nft', 'list', 'ruleset']);
const nft = (text: string): Promise<string> => namespace.run(['nft', '-f', '-'], text);

/** Starts the proxy in nftables mode on these services, and waits until they are programmed. */
async function serving(...more: readonly string[]): Promise<Command> {
  return servingAs(...identity, ...more);
}

async function servingAs(...flags: readonly string[]): Promise<Command> {
  const file = await manifest('objects.yaml', clusterObjects([web]));
  return commands.serve([...flags, '--manifests', file]);
}

async function elements(name: string, family: 'ip' | 'ip6' = 'ip'): Promise<readonly string[]> {
  return (await readTable(node, family)).get(name)?.elements ?? [];
}

describe('--once', () => {
  const once = (...files: readonly string[]): Promise<Ended> =>
    run([...identity, '--once', ...files.flatMap((file) => ['--manifests', file])]);

  it('programs everything, leaves the rules, and ends with 0', async () => {
    const result = await once(await manifest('objects.yaml', clusterObjects([web, other])));
    expect(result).toMatchObject({ exitCode: 0, stdout: '' });
    expect(result.stderr).not.toContain('not programmed');
    expect(await elements('set cluster-ips')).toEqual(['172.30.20.6', '172.30.20.7']);
    expect(await elements('map nodeport-frontends')).toHaveLength(2);
    // Asking a tool of iptables for rules of other modes would make tables.
    const tables = (await namespace.run(['nft', 'list', 'tables'])).trim().split('\n');
    expect(tables).toEqual(['table ip kube-proxy', 'table ip6 kube-proxy']);
  });

  it('names what is invalid, unnamed, does not parse or cannot be read, programs the others, and ends with 1', async () => {
    const invalid = { ...other, clusterIP: '172.30.20.7; drop' };
    const objects = await manifest(
      'objects.yaml',
      `${clusterObjects([web, invalid])}---\napiVersion: v1\nkind: Service\nmetadata: {}\n`,
    );
    const broken = await manifest('broken.yaml', 'kind: Service\nmetadata: {name: [web\n\tspec: }\n');
    await mkdir(at('manifests'));
    await symlink('loop.yaml', at('manifests/loop.yaml'));
    const { exitCode, stderr } = await once(objects, broken, at('manifests'));
    expect(exitCode).toBe(1);
    const named = stderr.match(/^not programmed: .*$/gm);
    expect(named).toHaveLength(4);
    for (const problem of [
      new RegExp(`${objects}:\\d+: Service default/other: spec.clusterIP: "172.30.20.7; drop" `),
      new RegExp(`${objects}:\\d+: (?!Service default/other)`),
      new RegExp(`${broken}:\\d+`),
      /loop\.yaml: ELOOP/,
    ])
      expect(named).toContainEqual(expect.stringMatching(problem));
    expect(await elements('set cluster-ips')).toEqual(['172.30.20.6']);
  });

  it('removes the rules of the mode before it, unless something could not be read', async () => {
    const file = await manifest('objects.yaml', clusterObjects([web]));
    const as = (mode: string, ...flags: readonly string[]): Promise<Ended> =>
      run([...cluster, '--proxy-mode', mode, '--once', '--manifests', file, ...flags]);
    const tables = (): Promise<string> => namespace.run(['nft', 'list', 'tables']);
    const saved = (): Promise<string> => namespace.run(['iptables-nft-save']);

    expect(await as('nftables')).toMatchObject({ exitCode: 0 });
    await mkdir(at('unread'));
    await symlink('loop.yaml', at('unread/loop.yaml'));
    const partial = await as('iptables', '--manifests', at('unread'));
    expect(partial.exitCode).toBe(1);
    expect(partial.stderr).toMatch(/^not removed: keeping any rules of other modes: .*loop\.yaml/m);
    expect(await tables()).toContain('table ip kube-proxy');

    expect(await as('iptables')).toMatchObject({ exitCode: 0 });
    expect(await tables()).not.toContain('kube-proxy');
    expect(await saved()).toContain('-A KUBE-SERVICES');

    expect(await as('nftables')).toMatchObject({ exitCode: 0 });
    expect(await tables()).toContain('table ip kube-proxy');
    expect(await saved()).not.toContain('KUBE-SERVICES');
  });
});

const WITHOUT_TOOLS = { env: { PATH: '/nonexistent' } };

describe('--cleanup', () => {
  const foreign =
    'table ip filter { chain a { ip daddr 10.0.0.1 drop; }; }\ntable inet kube-proxy { set s { type mark; }; }';

  it('removes the tables of both families, which stay after SIGINT, and nothing else', async () => {
    await nft(foreign);
    const before = await ruleset();
    const proxy = await serving();
    const own = contentsOf(await readTable(node));
    expect(Object.keys(own).length).toBeGreaterThan(0);
    const { exitCode, stderr } = await proxy.stop('SIGINT');
    expect(exitCode).toBe(0);
    expect(stderr).toContain('the rules stay');
    expect(contentsOf(await readTable(node))).toEqual(own);
    expect(await namespace.run(['nft', 'list', 'tables'])).toContain('table ip6 kube-proxy');
    expect(await run(['--cleanup'])).toMatchObject({ exitCode: 0 });
    expect(await ruleset()).toBe(before);
    expect(await run(['--cleanup'])).toMatchObject({ exitCode: 0, stdout: '' });
  });

  it('says where it cannot look without its tools; with them it leaves of mode iptables only what protects 127.0.0.1, as long as it must', async () => {
    const file = await manifest('objects.yaml', clusterObjects([web]));
    expect(await run([...cluster, '--proxy-mode', 'iptables', '--once', '--manifests', file])).toMatchObject({
      exitCode: 0,
    });
    await nft('table ip kube-proxy { }; table ip6 kube-proxy { };');
    await namespace.run(['ipset', 'create', 'KUBE-CLUSTER-IP', 'hash:ip,port']);
    const withoutTools = await run(['--cleanup'], WITHOUT_TOOLS);
    expect(withoutTools.exitCode).toBe(1);
    for (const family of IP_FAMILIES)
      expect(withoutTools.stderr).toMatch(
        new RegExp(`rules of iptables-nft \\(${family}\\): cannot start iptables-nft: install`),
      );
    expect(withoutTools.stderr).toContain('cannot start ipset: install the package ipset');
    expect(withoutTools.stderr).not.toContain('iptables-legacy');
    expect(await namespace.run(['nft', 'list', 'tables'])).not.toContain('kube-proxy');
    await namespace.run(['ipset', 'destroy']);

    const chains = async () => (await ruleset()).match(/^(?:table|\tchain) .*KUBE.*$/gm) ?? [];
    const { exitCode, stderr } = await run(['--cleanup']);
    expect([exitCode, await chains()]).toEqual([0, ['\tchain KUBE-FIREWALL {']]);
    expect(stderr).toMatch(/the chain stays: .* family="IPv4" chain="KUBE-FIREWALL"/);
    await namespace.run(['sysctl', '-w', 'net.ipv4.conf.all.route_localnet=0']);
    expect([(await run(['--cleanup'])).exitCode, await chains()]).toEqual([0, []]);
    expect(await ruleset()).not.toContain('jump');

    await namespace.run(['nft', 'flush', 'ruleset']);
    expect(await run(['--cleanup'], WITHOUT_TOOLS)).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('the command line', () => {
  it('--version prints the version', async () => {
    expect(await run(['--version'])).toEqual({ exitCode: 0, stdout: 'Kubernetes v1.37.0\n', stderr: '' });
  });

  it('help lists the commands, and the flags', async () => {
    const { exitCode, stdout: commandsOnly, stderr } = await run(['--help']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(commandsOnly).toMatch(/^Query the proxy on this node:\n +status/m);
    const { stdout } = await run(['help', 'flags']);
    for (const flag of ['manifests', 'once', 'config', 'cleanup', 'master', 'proxy-mode']) {
      expect(stdout).toContain(`--${flag} `);
    }
  });

  it('an unknown flag gets a line, where help is, and 1', async () => {
    const { exitCode, stdout, stderr } = await run(['--nonsense']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toBe('kubeproxy: unknown flag: --nonsense\nSee "kubeproxy --help".\n');
  });

  it.each([
    ['that is not there', ['--once'], 'gone', 'it does not exist'],
    ['that is not there', ['plan'], 'gone', 'it does not exist'],
    ['that is empty', [], '', 'expected a path, found ""'],
  ])('a path of manifests %s is refused before anything is touched', async (_, command, path, reason) => {
    const manifests = ['--manifests', path && at(path)];
    const { exitCode, stdout, stderr } = await run([...identity, ...command, ...manifests]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' });
    expect(stderr).toMatch(new RegExp(`^(Error|kubeproxy.*): .*${reason}`, 'm'));
    expect(stderr).not.toContain('starting');
    expect(await ruleset()).toBe('');
  });

  it('validate reports what cannot be used, by file, line and field, and exits with 1; otherwise with 0', async () => {
    const good = await manifest('good.yaml', clusterObjects([web]));
    const bad = await manifest('bad.yaml', clusterObjects([{ ...other, clusterIP: '172.30.20' }]));
    const result = await run(['validate', good]);
    expect(result).toEqual({ exitCode: 0, stdout: 'valid: 4 objects in 1 file\n', stderr: '' });
    const { exitCode, stdout } = await run(['validate', good, bad]);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(
      new RegExp(`^${bad}:\\d+: Service default/other: spec.clusterIP: "172.30.20" is not an IP address\n$`),
    );
    const piped = await execa(resolve('bin/kubeproxy'), ['validate', '-', '-o', 'json'], {
      inputFile: bad,
      reject: false,
    });
    expect(piped.exitCode).toBe(1);
    expect(JSON.parse(piped.stdout)).toMatchObject({
      fileCount: 1,
      findings: [{ severity: 'error', file: '<stdin>', subject: 'Service default/other' }],
    });
  });

  it('a bad configuration is refused with the path of the field', async () => {
    const config = await manifest(
      'config.yaml',
      'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\nmode: nftables\nnftables: {masqueradeBit: 77}\n',
    );
    const { exitCode, stderr } = await run(['--config', config, '--once']);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /"command failed" err="failed validate: \S*NFTablesConfiguration\.MasqueradeBit: Invalid value: 77: /m,
    );
    expect(await run(['--config', at('none.yaml')])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining(at('none.yaml')) as string,
    });
    expect(await ruleset()).toBe('');
  });

  it('a mode that does not exist is refused', async () => {
    const { exitCode, stderr } = await run(['--proxy-mode', 'quantum']);
    expect(exitCode).toBe(1);
    expect(stderr).toContain('quantum');
  });

  it('a configuration as kubeadm writes it is understood', async () => {
    const config = await manifest('config.conf', await readFile(kubeadmConfiguration, 'utf8'));
    const objects = await manifest('objects.yaml', clusterObjects([web]));
    const result = await run([
      '--config',
      config,
      '--once',
      '--hostname-override',
      'node1',
      '--manifests',
      objects,
    ]);
    expect(result).toMatchObject({ exitCode: 0 });
    expect(result.stderr).not.toContain('strict decoding');
    expect(await namespace.run(['iptables-nft-save', '-t', 'nat'])).toMatch(
      /^-A KUBE-SVC-\w+ ! -s 10\.244\.0\.0\/16 -d 172\.30\.20\.6\/32 .* -j KUBE-MARK-MASQ$/m,
    );
  });
});

describe('plan', () => {
  const plan = (...args: readonly string[]): Promise<Ended> =>
    run(['plan', '--proxy-mode', 'nftables', '--hostname-override', 'node1', ...args]);

  it.each(sampleOf(['loadbalancer-source-ranges', 'session-affinity', 'dual-stack']))(
    'of %s loads, and is what --once programs',
    async (name) => {
      const { config, steps } = await readScenario(name);
      const args = [
        ...['--config', await manifest('config.yaml', `${config}\nmode: nftables\n`)],
        ...['--manifests', await manifest('objects.yaml', steps.at(-1)!.objects)],
      ];
      const { exitCode, stdout } = await run(['plan', ...args]);
      expect(exitCode).toBe(0);
      await namespace.run(['nft', '-c', '-f', '-'], stdout);
      expect(await ruleset()).toBe('');

      expect(await run(['--once', ...args])).toMatchObject({ exitCode: 0 });
      const written = {
        ip: contentsOf(await readTable(node)),
        ip6: contentsOf(await readTable(node, 'ip6')),
      };
      await namespace.run(['nft', 'flush', 'ruleset']);
      await nft(stdout);
      expect({
        ip: contentsOf(await readTable(node)),
        ip6: contentsOf(await readTable(node, 'ip6')),
      }).toEqual(written);
    },
  );

  it('names an invalid Service on standard error, prints the rules of the others, and ends with 1', async () => {
    const invalid = { ...other, clusterIP: '172.30.20.7; drop' };
    const file = await manifest('objects.yaml', clusterObjects([web, invalid]));
    const broken = await manifest('broken.yaml', 'kind: Service\nmetadata: {name: [web\n\tspec: }\n');
    const { exitCode, stdout, stderr } = await plan('--manifests', file, '--manifests', broken);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(new RegExp(`^not planned: ${file}:\\d+: Service default/other: `, 'm'));
    expect(stderr).toMatch(new RegExp(`^not planned: ${broken}:\\d+`, 'm'));
    await namespace.run(['nft', '-c', '-f', '-'], stdout);
    expect(stdout).toContain(web.clusterIP);
  });

  it('of one family is text for one tool', async () => {
    const file = await manifest('objects.yaml', clusterObjects([web]));
    const iptables = (...args: readonly string[]): Promise<Ended> =>
      run(['plan', ...cluster, '--proxy-mode', 'iptables', '--manifests', file, ...args]);
    const both = await iptables();
    const parts: string[] = [];
    for (const family of IP_FAMILIES) {
      const { exitCode, stdout } = await iptables('--family', family.toLowerCase());
      expect(exitCode).toBe(0);
      await namespace.run([program('iptables-nft', family, 'restore'), '--noflush', '--test'], stdout);
      parts.push(stdout);
    }
    expect(parts.join('\n')).toBe(both.stdout);

    await namespace.run(['sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1']);
    expect(await iptables('--family=ipv6')).toMatchObject({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringContaining('this machine cannot serve IPv6') as string,
    });
  });

  it('of an unset mode is for iptables-restore, loads, and is what --once programs', async () => {
    const { config, steps } = await readScenario('dual-stack', 'iptables');
    const args = [
      ...['--config', await manifest('config.yaml', config)],
      ...['--manifests', await manifest('objects.yaml', steps.at(-1)!.objects)],
    ];
    const { exitCode, stdout } = await run(['plan', ...args]);
    expect(exitCode).toBe(0);
    expect(await ruleset()).toBe('');

    const saved = async (): Promise<object[]> =>
      Promise.all(
        IP_FAMILIES.map(async (family) =>
          comparableTables(parseSave(await namespace.run([program('iptables-nft', family, 'save')]), family)),
        ),
      );
    expect(await run(['--once', ...args])).toMatchObject({ exitCode: 0 });
    const written = await saved();
    await namespace.run(['nft', 'flush', 'ruleset']);
    const texts = stdout.split(/^(?=# ip6?tables-restore)/m);
    expect(texts).toHaveLength(2);
    for (const [index, family] of IP_FAMILIES.entries())
      await namespace.run([program('iptables-nft', family, 'restore'), '--noflush'], texts[index]);
    expect(await saved()).toEqual(written);
  });

  it('shows what the flags ask for', async () => {
    const objects = ['--manifests', await manifest('objects.yaml', clusterObjects([web]))];
    await namespace.run(['ip', 'addr', 'add', '198.51.100.11/24', 'dev', 'lo']);
    await namespace.run(['ip', 'addr', 'add', '192.0.2.1/24', 'dev', 'lo']);
    const texts = await Promise.all(
      [
        ['--cluster-cidr', '10.200.0.0/16', '--nodeport-addresses', '192.0.2.0/24'],
        ['--detect-local-mode', 'NodeCIDR', '--nodeport-addresses', 'primary'],
        ['--detect-local-mode', 'BridgeInterface', '--pod-bridge-interface', 'cbr0'],
        ['--detect-local-mode', 'InterfaceNamePrefix', '--pod-interface-name-prefix', 'veth'],
      ].map(async (flags) => {
        const { exitCode, stdout, stderr } = await plan(...objects, ...flags);
        if (exitCode !== 0) throw new Error(stderr);
        return stdout;
      }),
    );
    const [clusterCIDR, nodeCIDR, bridge, prefix] = texts;
    expect(clusterCIDR).toContain('ip saddr != 10.200.0.0/16');
    expect(clusterCIDR).toMatch(/set nodeport-ips \{[^}]*elements = \{ 192\.0\.2\.1 \}/);
    expect(nodeCIDR).toContain('ip saddr != 10.244.1.0/24');
    expect(nodeCIDR).toMatch(/set nodeport-ips \{[^}]*elements = \{ 198\.51\.100\.11 \}/);
    expect(bridge).toContain('iifname != "cbr0"');
    expect(prefix).toContain('iifname != "veth*"');
    expect(await ruleset()).toBe('');
  });
});

describe('what it reports about itself', () => {
  it('a mode auto means nftables where the kernel has it; there are metrics of each family', async () => {
    const { log } = await servingAs(...cluster, '--proxy-mode', 'auto', '-v', '2');
    expect((await node.get(`${metrics}/proxyMode`)).body).toBe('nftables');
    expect(await namespace.run(['iptables-nft-save'])).not.toContain('KUBE-');
    const { status, body } = await node.get(`${metrics}/metrics`);
    expect(status).toBe(200);
    for (const family of IP_FAMILIES)
      for (const name of ['duration_seconds_count', 'last_timestamp_seconds'])
        expect(body).toMatch(
          new RegExp(`^kubeproxy_sync_proxy_rules_${name}\\{ip_family="${family}"\\} [1-9]`, 'm'),
        );
    expect(log).toContain('listening');
  });

  it('a mode unset means iptables, and the log says once what nftables would gain, and that it will be the default', async () => {
    const { log } = await servingAs(...cluster);
    expect(await node.get(`${metrics}/proxyMode`)).toMatchObject({ status: 200, body: 'iptables' });
    expect(await namespace.run(['iptables-nft-save', '-t', 'nat'])).toContain(
      'default/web:http -> 10.244.1.11',
    );
    expect(await namespace.run(['nft', 'list', 'tables'])).not.toContain('kube-proxy');
    expect(log.match(/This node supports nftables: set --proxy-mode=nftables.* gain="/g)).toHaveLength(1);
    expect(
      log.match(/^W.*\] "No proxy mode is configured, .* nftables from Kubernetes 1\.40 on/gm),
    ).toHaveLength(1);
    expect(log.match(/reason="ProxyModeUnset"/g)).toHaveLength(1);
  });

  it('serves one family where the node has no other, and says so once', async () => {
    await namespace.run(['sysctl', '-qw', 'net.ipv6.conf.all.disable_ipv6=1']);
    const { log } = await servingAs(...cluster);
    expect(log).toMatch(/"starting" version="\d+\.\d+\.\d+" kubernetes="v1\.\d+\.0" .* families=\["IPv4"\]/);
    expect(log.match(/iptables cannot serve this family; .* family="IPv6"/g)).toHaveLength(1);
    expect(await namespace.run(['ip6tables-nft-save'])).not.toContain('KUBE-');
  });

  it('is unhealthy but alive before the first sync, and healthy after it', async () => {
    const file = await manifest('objects.yaml', clusterObjects([web]));
    const owner = await TableOwner.start(node);
    const proxy = await commands.start([...identity, '--manifests', file, '-v', '2']);
    await until('the failure is told', () => Promise.resolve(proxy.log.includes('sync failed')));
    expect((await node.get(`${health}/healthz`)).status).toBe(503);
    expect((await node.get(`${health}/livez`)).status).toBe(200);
    await owner.stop();
    await until('it is healthy', async () => (await node.get(`${health}/healthz`)).status === 200);
    expect((await node.get(`${health}/livez`)).status).toBe(200);
    expect(await elements('set cluster-ips')).toEqual(['172.30.20.6']);
  });

  it('says little without -v, and nothing while nothing happens; a port that is taken is fatal only when that is asked for', async () => {
    const first = await serving();
    expect(first.log).not.toContain('listening');
    const before = first.log;
    await new Promise((resolve) => setTimeout(resolve, 1200));
    expect(first.log).toBe(before);

    const taken = await run([...identity, '--bind-address-hard-fail', '--manifests', at('objects.yaml')]);
    expect(taken.exitCode).toBe(1);
    expect(taken.stderr).toMatch(/cannot listen on .*10256/);
    const second = await commands.start([...identity, '--manifests', at('objects.yaml')]);
    await until('the failure is told', () => Promise.resolve(second.log.includes('server cannot listen')));
    expect(second.running).toBe(true);
    const stays = expect.stringContaining('the rules stay') as string;
    expect(await second.stop()).toMatchObject({ exitCode: 0, stderr: stays });
    expect(first.running).toBe(true);
  });
});

describe('ways into the kernel', () => {
  it('nftables mode needs no nft', async () => {
    const file = await manifest('objects.yaml', clusterObjects([web]));
    const { exitCode, stderr } = await run([...identity, '--once', '--manifests', file], {
      env: { PATH: '/nonexistent' },
    });
    expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
    expect(await elements('set cluster-ips')).toEqual(['172.30.20.6']);
  });

  it('without iptables, an unset mode ends with 1 and says what to install', async () => {
    const file = await manifest('objects.yaml', clusterObjects([web]));
    const { exitCode, stderr } = await run([...cluster, '--manifests', file], {
      env: { PATH: '/nonexistent' },
    });
    expect(exitCode).toBe(1);
    expect(stderr).toContain('This node supports nftables: set --proxy-mode=nftables');
    expect(stderr).toMatch(/cannot start iptables-nft, .*: install the package iptables/);
  });

  it('without netlink, there is no mode nftables, which auto does without', async () => {
    // Away from the packages, koffi cannot be loaded.
    await cp(dirname(await builtProxy()), at('dist'), { recursive: true });
    const program = at('dist/kubeproxy.js');
    await writeFile(at('dist/package.json'), '{"type":"module"}');
    const file = await manifest('objects.yaml', clusterObjects([web]));
    const as = (mode: string): Promise<Ended> =>
      run([...cluster, '--proxy-mode', mode, '--once', '--manifests', file], { program });
    const asked = await as('nftables');
    expect(asked.exitCode).toBe(1);
    expect(asked.stderr).toMatch(
      /cannot reach nftables: netlink is unavailable: .*koffi.*; use --proxy-mode iptables/,
    );
    const { exitCode, stderr } = await as('auto');
    expect(stderr).toMatch(/nftables is unavailable; falling back to iptables.* problem=".*koffi/);
    expect(await namespace.run(['iptables-nft-save'])).toContain('-A KUBE-SERVICES');
    // What kube-proxy may have left in mode nftables cannot be seen, but what is of mode ipvs can.
    const unseen = /^not removed: cannot check for rules of nftables: netlink is unavailable: .*$/gm;
    expect([exitCode, stderr.match(/^not .*$/gm)]).toEqual([1, stderr.match(unseen)]);
    const cleaned = await run(['--cleanup'], { program });
    expect(cleaned.exitCode).toBe(1);
    expect(cleaned.stderr).toContain('cannot check for rules of nftables');
    expect(await namespace.run(['iptables-nft-save'])).not.toContain('KUBE-SERVICES');
  });
});
