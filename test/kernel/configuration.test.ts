import { mkdir, readFile, rename, symlink, unlink, writeFile } from 'node:fs/promises';
import { parse } from 'yaml';
import { clusterObjects, type TestService } from '../support/testbed/cluster-objects.js';
import { CommandNode } from '../support/program/command-node.js';
import type { Command, CommandOptions } from '../support/program/command.js';
import { until } from '../support/until.js';

const HEADER = 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration\n';
const UPDATED = "content of the proxy server's configuration file was updated";

const web: TestService = {
  name: 'web',
  clusterIP: '172.30.20.6',
  ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080, nodePort: 30186 }],
  endpoints: ['10.244.1.11'],
};

let node: CommandNode;

beforeEach(async () => {
  node = await CommandNode.open('config');
  await mkdir(at('mounted'));
});
afterEach(() => node.close());

const at = (...names: readonly string[]): string => node.at(...names);
const config = (): string => at('mounted', 'config.conf');
let generation = 0;

/** Makes the configuration what the kubelet makes of an edited ConfigMap: a new folder, then one link swapped. */
async function mount(body: string): Promise<void> {
  const fresh = `..2026_${++generation}`;
  await mkdir(at('mounted', fresh));
  await writeFile(at('mounted', fresh, 'config.conf'), HEADER + body);
  await symlink(fresh, at('mounted', '..data_tmp'));
  await rename(at('mounted', '..data_tmp'), at('mounted', '..data'));
  await symlink('..data/config.conf', config()).catch(() => undefined);
}

/** Starts the proxy on the mounted configuration, and waits until the service is programmed. */
async function serve(body: string): Promise<Command> {
  await mount(body);
  const objects = await node.write('objects.yaml', clusterObjects([web]));
  return node.serve(['--config', config(), '--manifests', objects, '--hostname-override', 'node1']);
}

const nftRules = (): Promise<string> => node.namespace.run(['nft', 'list', 'table', 'ip', 'kube-proxy']);
const iptablesRules = (): Promise<string> => node.namespace.run(['iptables-nft-save', '-t', 'nat']);
const refused = async (): Promise<string | undefined> =>
  /^kube_proxy_ts_configuration_rejected (\d)$/m.exec(
    (await node.host.get('http://127.0.0.1:10249/metrics')).body,
  )?.[1];
const logged = (command: Command, text: string): Promise<void> =>
  until(`the log says ${JSON.stringify(text)}`, async () => command.log.includes(text));

describe('edits of the configuration file while the proxy runs', () => {
  it('are applied, refused, or end the process, as the ConfigMap is swapped (nftables)', async () => {
    const command = await serve('mode: nftables\nclusterCIDR: 10.244.0.0/16\n');
    expect(await nftRules()).toContain('ip saddr != 10.244.0.0/16');

    await mount('mode: nftables\nclusterCIDR: 10.250.0.0/16\nlogging: {verbosity: 2}\n');
    await until('the rules follow', async () => (await nftRules()).includes('ip saddr != 10.250.0.0/16'));
    const rules = await nftRules();
    expect(rules).not.toContain('10.244.0.0/16');
    expect(rules).toContain('172.30.20.6');
    await logged(command, 'applied the edited configuration');

    await mount('mode: nftables\nclusterCIDR: nonsense\noomScoreAdj: 5000\n');
    await logged(command, 'rejected the edited configuration; keeping the last valid version');
    for (const path of [
      'DetectLocalConfiguration.ClusterCIDRs[0]',
      'KubeProxyLinuxConfiguration.OOMScoreAdj',
    ])
      expect(command.log).toContain(`KubeProxyConfiguration.${path}: Invalid value: `);
    expect(await nftRules()).toBe(rules);
    expect(await refused()).toBe('1');

    await mount('mode: nftables\nclusterCIDR: 10.250.0.0/16\nlogging: {verbosity: 2}\n');
    await logged(command, 'the configuration file matches the active configuration again');
    expect(await refused()).toBe('0');

    await unlink(config());
    await logged(command, `cannot read the configuration file ${config()}: ENOENT`);
    expect(command.running).toBe(true);

    await mount('mode: nftables\nclusterCIDR: 10.250.0.0/16\nmetricsBindAddress: 127.0.0.1:10250\n');
    const { exitCode, stderr } = await command.end();
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/"the edited configuration needs a restart" fields=\["metricsBindAddress"\]/);
    expect(stderr).toContain(`"command failed" err="${UPDATED}"`);
    expect(await nftRules()).toBe(rules);
  });

  it('that concern the rules are followed, as the file is rewritten (iptables)', async () => {
    const command = await serve('mode: iptables\nclusterCIDR: 10.244.0.0/16\n');
    await unlink(config());
    await writeFile(
      config(),
      `${HEADER}mode: iptables\nclusterCIDR: 10.250.0.0/16\niptables: {masqueradeBit: 9}\nnodePortAddresses: [192.0.2.0/24]\n`,
    );
    await node.namespace.run(['ip', 'addr', 'add', '192.0.2.7/24', 'dev', 'lo']);
    await until('the rules follow', async () => (await iptablesRules()).includes('! -s 10.250.0.0/16'));
    const rules = await iptablesRules();
    expect(rules).not.toContain('10.244.0.0/16');
    expect(rules).toContain('-A KUBE-MARK-MASQ -j MARK --set-xmark 0x200/0x200');
    expect(rules).toContain('-A KUBE-POSTROUTING -m mark ! --mark 0x200/0x200 -j RETURN');
    expect(rules).not.toContain('-m addrtype --dst-type LOCAL -j KUBE-NODEPORTS');
    expect(command.log).not.toMatch(/rejected|failed|repaired/);
    expect((await command.stop()).exitCode).toBe(0);
  });
});

describe('commands about the configuration', () => {
  it('--write-config-to writes what is in effect, and touches nothing', async () => {
    await mount('mode: nftables\nbindAddress: "::"\n');
    const written = at('written.yaml');
    const result = await node.run([
      ...['--config', config(), '--write-config-to', written, '--cleanup', '-v1'],
    ]);
    expect(result).toMatchObject({ exitCode: 0, stdout: '' });
    expect(result.stderr).toContain(JSON.stringify(`FLAG: --write-config-to=${JSON.stringify(written)}`));
    const text = await readFile(written, 'utf8');
    expect(parse(text)).toMatchObject({
      kind: 'KubeProxyConfiguration',
      bindAddress: '::',
      healthzBindAddress: '[::]:10256',
      mode: 'nftables',
      nodePortAddresses: ['primary'],
      logging: { verbosity: 1 },
    });
    expect(await node.run(['--config', written, '--write-config-to', at('again.yaml')])).toMatchObject({
      exitCode: 0,
    });
    expect(await readFile(at('again.yaml'), 'utf8')).toBe(text);
  });

  it('--write-config-to writes nothing when the configuration is invalid', async () => {
    const result = await node.run(['--write-config-to', at('w'), '--oom-score-adj', '5000']);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain('"command failed" err="failed validate: KubeProxyConfiguration.');
    await expect(readFile(at('w'))).rejects.toThrow('ENOENT');
  });

  it('--init-only sets what needs privileges, writes no rule, asks no API server, and ends with 0', async () => {
    const sysctl = async (name: string): Promise<string> =>
      (await node.namespace.run(['cat', `/proc/sys/net/${name}`])).trim();
    expect(await sysctl('ipv4/conf/all/route_localnet')).toBe('0');
    await mount('conntrack: {maxPerCore: 0, tcpEstablishedTimeout: 2h, tcpCloseWaitTimeout: 90s}\n');
    const result = await node.run(['--config', config(), '--init-only']);
    expect(result).toMatchObject({ exitCode: 0, stdout: '' });
    expect(await sysctl('netfilter/nf_conntrack_tcp_timeout_established')).toBe('7200');
    expect(await sysctl('netfilter/nf_conntrack_tcp_timeout_close_wait')).toBe('90');
    expect(await sysctl('ipv4/conf/all/route_localnet')).toBe('1');
    expect(await sysctl('netfilter/nf_conntrack_acct')).toBe('1');
    expect(await iptablesRules()).not.toContain('KUBE');
  });

  it.each<[string, readonly string[], CommandOptions]>([
    ['no cluster is configured', ['--kubeconfig', '/nowhere/kubeconfig'], {}],
    ['a flag is wrong', ['--kubeconfig', '/nowhere/kubeconfig', '--conntrack-tcp-be-liberal=perhaps'], {}],
    ['a flag is wrong with --init-only', ['--init-only', '--iptables-masquerade-bit=99'], {}],
    ['it reads manifests that are not there, once', ['--once', '--manifests', '/nowhere'], {}],
    ['the mode lacks its tools', ['--manifests', 'deploy/examples'], { env: { PATH: '/nowhere' } }],
  ])('a start that fails because %s leaves the sysctls as they were', async (_, flags, options) => {
    const values = (): Promise<string> =>
      node.namespace.run([
        'sh',
        '-c',
        'cd /proc/sys/net && grep . ipv4/conf/all/route_localnet netfilter/nf_conntrack_tcp_timeout_*',
      ]);
    const before = await values();
    const own = ['--proxy-mode', 'iptables', '--conntrack-tcp-timeout-established', '2h'];
    const result = await node.run([...own, '--conntrack-max-per-core', '0', ...flags], options);
    expect(result.exitCode).toBe(1);
    expect(await values()).toBe(before);
  });

  it('--init-only says what could not be set, and ends with 1', async () => {
    await mount('conntrack: {maxPerCore: 0, udpTimeout: 3000000000s}\n');
    const result = await node.run(['--config', config(), '--init-only']);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain(
      '"command failed" err="could not set conntrack parameters from kube-proxy configuration: ',
    );
  });
});
