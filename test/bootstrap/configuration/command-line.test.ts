import { subcommandsOf } from '../../../src/diagnostics/adapters/cli/subcommands.js';
import { completeCommandLine } from '../../../src/bootstrap/configuration/command-line.js';
import { EarlyExit } from '../../../src/bootstrap/configuration/errors.js';
import { UsageError } from '../../../src/adapters/cli/usage-error.js';
import { fieldEntries } from '../../../src/bootstrap/configuration/field.js';
import { schema } from '../../../src/bootstrap/configuration/schema.js';
import { configurationError, failure, HEADER, parse, parseFile, parsePlugin } from './support.js';

const usageError = (...argv: readonly string[]) => failure(UsageError, () => parse(argv));
const earlyExit = (...argv: readonly string[]) => failure(EarlyExit, () => parse(argv));
const configured = (...argv: readonly string[]) => parse(argv).configuration;

describe('commands and our own flags', () => {
  it('runs without arguments, with every default', () => {
    const line = parse([]);
    expect(line).toMatchObject({
      request: { name: 'run' },
      manifests: [],
      once: false,
      cleanup: false,
      initOnly: false,
      nodeName: 'host-1',
      version: 'v1.37.0',
      warnings: [],
    });
    expect(line.master).toBe('');
    expect(line.configuration).toMatchObject({
      mode: '',
      bindAddress: '0.0.0.0',
      healthzBindAddress: '0.0.0.0:10256',
      metricsBindAddress: '127.0.0.1:10249',
      detectLocalMode: 'ClusterCIDR',
      clusterCIDR: [],
      nodePortAddresses: [],
      oomScoreAdj: -999,
      configSyncPeriod: 900_000,
      iptables: { masqueradeBit: 14, localhostNodePorts: true, syncPeriod: 30_000, minSyncPeriod: 1_000 },
      nftables: { masqueradeBit: 14, syncPeriod: 30_000, minSyncPeriod: undefined },
      conntrack: { maxPerCore: 32768, min: 131072, tcpEstablishedTimeout: 86_400_000 },
      gates: { AllowServiceExternalIPs: true, PreferSameTrafficDistribution: true, NativeHistograms: true },
    });
  });

  it('finds plan before and after flags', () => {
    expect(parse(['plan', '--once']).request).toEqual({ name: 'plan' });
    expect(parse(['--once', 'plan'])).toMatchObject({ request: { name: 'plan' }, once: true });
    expect(parse(['--manifests', 'plan'])).toMatchObject({ request: { name: 'run' }, manifests: ['plan'] });
  });

  it('plans one family where that is asked for, and knows no other command that takes one', () => {
    expect(parse(['plan', '--proxy-mode', 'iptables', '--family', 'ipv6', '--once'])).toMatchObject({
      request: { name: 'plan', family: 'IPv6' },
      once: true,
    });
    expect(parse(['plan', '--family=ipv4']).request).toEqual({ name: 'plan', family: 'IPv4' });
    expect(parse(['plan']).request).toEqual({ name: 'plan' });
    expect(usageError('plan', '--family=ipx').message).toMatch(/--family.*ipv4, ipv6/);
    expect(usageError('--family=ipv4').message).toContain('unknown flag: --family');
  });

  it('collects manifests, commas and all', () => {
    expect(parse(['--manifests', 'a,b', '--manifests=c']).manifests).toEqual(['a,b', 'c']);
  });

  it.each([[['--manifests', '']], [['--manifests=']], [['--manifests', 'a', 'plan', '--manifests', '']]])(
    'does not take an unset variable for the current folder: %j',
    (argv) => {
      expect(usageError(...argv).message).toBe(
        'invalid argument "" for "--manifests" flag: expected a path, found ""',
      );
    },
  );

  it('validates what it is given, files and folders', () => {
    expect(parse(['validate', 'a,b', 'c'])).toMatchObject({
      request: { name: 'validate' },
      manifests: ['a,b', 'c'],
    });
    expect(usageError('validate').message).toBe(
      'validate takes the files and folders to check, or - for standard input, got none',
    );
    expect(usageError('validate', 'a', '').message).toContain('an empty path');
    expect(earlyExit('--help').output).toMatch(/^ +validate /m);
  });

  it('keeps what concerns the API server and the files', () => {
    expect(
      parse([
        '--master',
        'https://a',
        '--kubeconfig',
        'k',
        '--write-config-to',
        'w',
        '--cleanup',
        '--init-only',
      ]),
    ).toMatchObject({
      master: 'https://a',
      writeConfigTo: 'w',
      cleanup: true,
      initOnly: true,
      configuration: { clientConnection: { kubeconfig: 'k' } },
    });
  });
});

describe('flag syntax', () => {
  it('takes _ for - in names, not in values', () => {
    expect(parse(['--hostname_override=my_node']).nodeName).toBe('my_node');
    expect(configured('--proxy_mode', 'ipvs').mode).toBe('ipvs');
  });

  it.each([
    ['--masquerade-all', true],
    ...['1', 't', 'T', 'true', 'TRUE', 'True'].map((text) => [`--masquerade-all=${text}`, true]),
    ...['0', 'f', 'F', 'false', 'FALSE', 'False'].map((text) => [`--masquerade-all=${text}`, false]),
  ])('reads %s', (flag, expected) => {
    expect(configured(String(flag)).nftables.masqueradeAll).toBe(expected);
  });

  it.each([
    ['--masquerade-all=yes', 'true or false'],
    ['--oom-score-adj=1.5', 'an integer'],
    ['--oom-score-adj=2147483648', 'an integer'],
    ['--oom-score-adj=', 'an integer'],
    ['--kube-api-qps=x', 'a number'],
    ['--iptables-sync-period=30', 'a duration'],
    ['--bind-address=localhost', 'an IP address'],
    ['--healthz-bind-address=localhost:1', 'an IP address or IP:port'],
    ['--healthz-bind-address=1.2.3.4:70000', 'an IP address or IP:port'],
    ['--v=-1', 'an integer from 0'],
    ['--vmodule=a', 'pattern=N'],
    ['--feature-gates=A', 'malformed pair, expect string=bool'],
    ['--feature-gates=A=maybe', 'true or false'],
    ['--log-text-info-buffer-size=x', 'a quantity'],
  ])('refuses %s', (flag, expected) => {
    const error = usageError(flag);
    const [name, ...value] = flag.split('=');
    expect(error.message).toContain(
      `invalid argument ${JSON.stringify(value.join('='))} for "${name}" flag: `,
    );
    expect(error.message).toContain(expected);
    expect(error.asked).toBe('kubeproxy');
  });

  it('a value may begin with a dash, and a boolean takes no following argument', () => {
    expect(configured('--oom-score-adj', '-5', '--cleanup').oomScoreAdj).toBe(-5);
    expect(usageError('--cleanup', 'false').message).toBe('unknown command "false"');
  });

  it('reads every form of -v', () => {
    for (const argv of [['-v', '4'], ['-v4'], ['-v=4'], ['--v', '4'], ['--v=4']]) {
      expect(configured(...argv).logging.verbosity).toBe(4);
    }
  });

  it('splits and joins lists', () => {
    expect(
      configured('--nodeport-addresses=10.0.0.0/8,fd00::/8', '--nodeport-addresses', '11.0.0.0/8'),
    ).toMatchObject({
      nodePortAddresses: ['10.0.0.0/8', 'fd00::/8', '11.0.0.0/8'],
    });
    expect(configured('--cluster-cidr=10.0.0.0/8,fd00::/8').clusterCIDR).toEqual(['10.0.0.0/8', 'fd00::/8']);
  });

  it('reads feature gates with spaces, empty items and repetition', () => {
    const { gates } = configured(
      '--feature-gates= ComponentFlagz = false ,,',
      '--feature-gates=NativeHistograms=true',
    );
    expect(gates).toMatchObject({ ComponentFlagz: false, NativeHistograms: true, ComponentStatusz: true });
  });

  it('reads vmodule', () => {
    expect(configured('--vmodule=a=1,b*=2').logging.vmodule).toEqual([
      { filePattern: 'a', verbosity: 1 },
      { filePattern: 'b*', verbosity: 2 },
    ]);
  });

  it.each(['shop/cart', '10.96.0.80', '10.96.0.80:53/udp', '[fd00::1]:80', '30080/tcp', '30080'])(
    'takes %s to explain',
    (subject) => {
      const asked = parse(['explain', subject, '--metrics-bind-address', '127.0.0.1:1', '-o', 'json']);
      expect(asked.request).toMatchObject({
        name: 'explain',
        subjects: [subject === 'shop/cart' ? { service: subject } : subject],
        probe: false,
        output: 'json',
      });
      expect(asked.configuration.metricsBindAddress).toBe('127.0.0.1:1');
    },
  );

  it('knows what cannot be explained', () => {
    expect(usageError('explain').message).toBe('explain takes a Service, an address, or a port, got none');
    for (const operand of ['a/b/c', 'Shop/cart', '../x', '70000'])
      expect(usageError('explain', 'shop/cart', operand).message).toBe(
        `explain takes a Service as NAME or NAMESPACE/NAME, an address, or a port, got "${operand}"`,
      );
    expect(usageError('explain', '--probe', '10.96.0.1').message).toBe('explain --probe takes Services');
    expect(usageError('explain', 'a/b', '-o', 'xml').message).toMatch(/'xml' is invalid/);
  });

  it.each(['explain', 'diff', 'history'])('%s takes names as kubectl does', (name) => {
    const named = (...operands: readonly string[]): unknown => {
      const { request } = parse([name, ...operands]);
      return 'subjects' in request ? request.subjects : 'services' in request && request.services;
    };
    expect(named('web', 'shop/web', 'shop/web:http', 'web:http')).toEqual([
      { service: 'web' },
      { service: 'shop/web' },
      { service: 'shop/web', port: 'http' },
      { service: 'web', port: 'http' },
    ]);
    expect(named('-n', 'shop', 'web', 'prod/web')).toEqual([
      { service: 'shop/web' },
      { service: 'prod/web' },
    ]);
    expect(named('-A', 'web')).toEqual([{ service: 'web' }]);
    expect(usageError(name, '-A', '-n', 'shop', 'web').message).toContain('cannot be used with');
    expect(usageError(name, 'Web').message).toContain('got "Web"');
  });

  it('takes what traffic to show', () => {
    const asked = parse([
      'top',
      'cart',
      '-n',
      'shop',
      'a/b',
      '--sort',
      'new',
      '--interval',
      '500ms',
      '--once',
    ]);
    const query = { namespace: 'shop', services: [{ service: 'cart' }, { service: 'a/b' }], sort: 'new' };
    expect(asked).toMatchObject({
      request: { name: 'top', query, intervalMilliseconds: 500, output: 'text' },
      once: true,
    });
    const usual = parse(['top', '-o', 'wide', '--interval=2s']);
    expect(usual.request).toEqual({
      name: 'top',
      query: { services: [], sort: 'open' },
      intervalMilliseconds: 2_000,
      output: 'wide',
    });
    for (const interval of ['0', '1', '50ms', '2m', 'soon'])
      expect(usageError('top', '--interval', interval).message).toContain('a duration from 100ms to 1m');
    expect(usageError('top', '--sort', 'name').message).toContain('Allowed choices are open, new');
  });

  it('takes which changes to show', () => {
    expect(parse(['history', '-n', 'shop', '--since', '10m', '--limit', '5']).request).toEqual({
      ...{ name: 'history', services: [], namespace: 'shop', output: 'text' },
      ...{ since: '10m', limit: 5 },
    });
    expect(usageError('history', '--since', '10').message).toContain('such as 30s or 5m');
    expect(usageError('history', '--limit', '0').message).toContain('whole number');
  });

  it('takes what to list', () => {
    const filter = { problems: false };
    const all = { name: 'services', services: [], filter, output: 'text' };
    expect(parse(['services']).request).toEqual(all);
    expect(parse(['services', '-n', 'shop', 'cart', 'prod/web:http', '-o', 'wide']).request).toEqual({
      ...all,
      services: [{ service: 'cart' }, { service: 'prod/web', port: 'http' }],
      filter: { ...filter, namespace: 'shop' },
      output: 'wide',
    });
    expect(parse(['services', '--problems', '--namespace=a']).request).toEqual({
      ...all,
      filter: { namespace: 'a', problems: true },
    });
    expect(usageError('services', 'a/b/c').message).toBe(
      'services takes names as NAME or NAMESPACE/NAME, with :PORT for one port, got "a/b/c"',
    );
  });

  it('takes whose history, and in which form the status is wanted', () => {
    expect(parse(['history']).request).toEqual({ name: 'history', services: [], output: 'text' });
    expect(parse(['history', 'shop/cart', 'web', '-o', 'yaml']).request).toEqual({
      name: 'history',
      services: [{ service: 'shop/cart' }, { service: 'web' }],
      output: 'yaml',
    });
    expect(parse(['status', '--output=json']).request).toEqual({ name: 'status', output: 'json' });
    expect(usageError('status', 'all').message).toContain('does not take any arguments');
  });

  it.each([
    [['status'], 'auto'],
    [['status', '--color=always'], 'always'],
    [['services', '--color', 'never'], 'never'],
    [['validate', 'x', '--color=never'], 'never'],
    [[], 'auto'],
  ])('knows from %j that colors are shown: %s', (argv, color) => {
    expect(parse(argv).color).toBe(color);
  });

  it('takes the name of what it lists, and whether to watch it', () => {
    expect(parse(['services', '-w', '-o', 'name']).request).toMatchObject({ watch: true, output: 'name' });
    expect(parse(['history', '--watch']).request).toMatchObject({ watch: true });
    expect(parse(['status', '-w']).request).toMatchObject({ watch: true });
    expect(parsePlugin(['status', '--color=never']).color).toBe('never');
    expect(parsePlugin(['status', '-w', '-o', 'name']).request).toMatchObject({
      ...{ watch: true, output: 'name' },
      query: { words: ['status', '-o', 'json'] },
    });
    for (const name of ['status', 'diff', 'explain'])
      expect(usageError(name, ...(name === 'explain' ? ['a/b'] : []), '-o', 'name').message).toContain(
        'Allowed choices',
      );
  });

  it('takes the packet to trace, or the file of many', () => {
    const query = { from: { kind: 'node' }, to: { text: '10.96.0.1' }, port: 53, protocol: 'UDP' };
    expect(parse(['trace', '--from', 'node', '--to=10.96.0.1:53/udp']).request).toMatchObject({
      name: 'trace',
      rules: 'desired',
      output: 'text',
      query,
    });
    expect(
      parse(['trace', '--kernel', '-o', 'json', '--queries', '-', '--proxy-mode', 'nftables']),
    ).toMatchObject({
      request: { name: 'trace', rules: 'actual', output: 'json', queries: '-' },
      configuration: { mode: 'nftables' },
    });
    const neither =
      'trace takes --from SOURCE and --to ADDRESS:PORT[/PROTOCOL] or a Service, or --queries FILE';
    expect(parse(['trace', '--from', 'node', '--to', 'shop/cart:http']).request).toMatchObject({
      named: { from: { kind: 'node' }, to: { service: 'shop/cart', port: 'http' } },
    });
    expect(usageError('trace', '--from', 'pod', '--to', 'cart').message).toContain('the source "pod"');
    expect(parse(['trace', '--from', 'pod/c', '--to', '10.96.0.1:80', '-n', 'shop']).request).toMatchObject({
      named: { from: { pod: 'shop/c' }, to: { port: 80, protocol: 'TCP' } },
    });
    expect(usageError('trace').message).toBe(neither);
    expect(usageError('trace', '--from', 'node').message).toBe(neither);
    expect(usageError('trace', '--queries', '-', '--from', 'node').message).toBe(
      'trace takes either --queries, or --from and --to',
    );
    expect(usageError('trace', '--from', 'pod', '--to', '10.96.0.1:53').message).toContain(
      'the source "pod"',
    );
    expect(usageError('trace', '--from', 'node', '--to', '10.96.0.1:53', '-o', 'xml').message).toContain(
      'xml',
    );
    expect(usageError('trace', 'shop/cart').message).toContain('does not take any arguments');
  });

  it('names what it does not know', () => {
    expect(usageError('--log-dir=/tmp').message).toBe('unknown flag: --log-dir');
    expect(usageError('--proxy-moed=x')).toMatchObject({
      message: 'unknown flag: --proxy-moed; did you mean --proxy-mode?',
      asked: 'kubeproxy',
    });
    expect(usageError('services', '--prolbems')).toMatchObject({
      message: 'unknown flag: --prolbems; did you mean --problems?',
      asked: 'kubeproxy services',
    });
    expect(usageError('--conntrack-min').message).toBe('flag needs an argument: --conntrack-min');
    expect(usageError('serve').message).toBe('unknown command "serve"');
    expect(usageError('statsu').message).toBe('unknown command "statsu"; did you mean status?');
    expect(usageError('/etc').message).toBe('"kube-proxy" does not take any arguments, got [/etc]');
    expect(usageError('plan', 'all').message).toBe('"kubeproxy plan" does not take any arguments, got [all]');
    expect(parse(['']).request).toEqual({ name: 'run' });
  });
});

describe('--help and --version', () => {
  it('begins with the commands', () => {
    const { output, code } = earlyExit('--help');
    expect(code).toBe(0);
    expect(output).toMatch(/^Usage: kubeproxy \[COMMAND\] \[flags\]\n/);
    expect(output).toMatch(/Query the proxy on this node:\n {2}status .*/);
    expect(output).not.toContain('--proxy-mode');
    expect(output).toContain('kubeproxy help flags');
    expect(output).toContain('kubectl kubeproxy --help');
    expect(earlyExit('help').output).toBe(output);
  });

  it('explains every flag of the proxy, each under a heading', () => {
    const { output, code } = earlyExit('help', 'flags');
    expect(code).toBe(0);
    for (const [, { flag }] of fieldEntries(schema)) if (flag) expect(output).toContain(`--${flag} `);
    expect(output.replace(/\s+/g, ' ')).toMatch(/--iptables-sync-period <duration> [^-]*\(default 30s\)/);
    expect(output.match(/^\S.*:$/gm)).toEqual([
      'What to do:',
      'The cluster:',
      'Traffic:',
      'Rules of iptables, nftables and userspace mode:',
      'IPVS mode:',
      'Userspace mode:',
      'Connections:',
      'Health, metrics and reports:',
      'The process and its log:',
      'Accepted without effect:',
      'Options:',
    ]);
  });

  it('of a command shows what that takes', () => {
    const { output } = earlyExit('explain', '-h');
    expect(output).toContain('--probe');
    expect(output).not.toContain('--proxy-mode');
    expect(earlyExit('help', 'explain').output).toBe(output);
    const { output: ofAllNodes } = failure(EarlyExit, () => parsePlugin(['explain', '--help']));
    expect(ofAllNodes).toMatch(/^Usage: kubectl kubeproxy explain NAME\|ADDRESS/);
    expect(ofAllNodes).toMatch(/Of all these commands:\n {2}--proxy-namespace/);
    expect(ofAllNodes).toContain('--probe');
    expect(usageError('help', 'exlpain').message).toBe('unknown command "exlpain"; did you mean explain?');
  });

  it.each([92, 100, 200])('is wrapped to %i columns', (width) => {
    for (const argv of [['--help'], ['help', 'flags'], ['trace', '--help']]) {
      const { output } = failure(EarlyExit, () =>
        completeCommandLine(argv, {}, { program: 'kubeproxy', width }, subcommandsOf('kubeproxy')),
      );
      expect(output.split('\n').filter((line) => line.length > width)).toEqual([]);
    }
  });

  it('names the program as it was called', () => {
    const reader = { program: 'kubectl kubeproxy', width: 100 };
    const asked = (...argv: readonly string[]) =>
      completeCommandLine(argv, {}, reader, subcommandsOf(reader.program));
    expect(failure(EarlyExit, () => asked('--help')).output).toMatch(/^Usage: kubectl kubeproxy COMMAND/);
    expect(failure(UsageError, () => asked('services', '--prolbems'))).toMatchObject({
      asked: 'kubectl kubeproxy services',
    });
    expect(failure(UsageError, () => asked('statsu')).message).toContain('did you mean status?');
  });

  it('prints the version before anything else', () => {
    expect(earlyExit('--version', '--oom-score-adj=5000')).toMatchObject({
      output: 'Kubernetes v1.37.0\n',
      code: 0,
    });
    expect(earlyExit('--version=raw').output).toContain('Minor:"37"');
    expect(earlyExit('--version', '--kubernetes-version=1.36').output).toBe('Kubernetes v1.36.0\n');
  });

  it('reports another version when told so', () => {
    expect(parse(['--version=v1.35.7']).version).toBe('v1.35.7');
    expect(parse(['--version=false']).version).toBe('v1.37.0');
    expect(usageError('--version=1.2').message).toContain('invalid argument');
  });
});

describe('the release to behave as', () => {
  it.each(['1.36', '1.37', '1.38'])('%s, by the flag or in the file, quoted or not', (release) => {
    for (const line of [
      parse(['--kubernetes-version', release]),
      parseFile(`kubernetesVersion: "${release}"`),
      parseFile(`kubernetesVersion: ${release}`),
      parseFile('kubernetesVersion: 1.37', `--kubernetes-version=${release}`),
    ])
      expect(line).toMatchObject({ version: `v${release}.0`, configuration: { kubernetesVersion: release } });
  });

  it('is one of those that are known', () => {
    for (const release of ['1.35', '1.39', 'v1.37', '1.37.0', ''])
      expect(usageError(`--kubernetes-version=${release}`).message).toBe(
        `invalid argument "${release}" for "--kubernetes-version" flag: expected one of 1.36, 1.37, 1.38, found "${release}"`,
      );
    expect(configurationError(() => parseFile('kubernetesVersion: 1.39')).message).toBe(
      'failed complete: failed to decode: kubernetesVersion: expected one of 1.36, 1.37, 1.38, found "1.39"',
    );
  });

  it('decides which feature gates there are', () => {
    const off = '--feature-gates=KubeProxyNFTablesLocalhostNodePorts=false';
    expect(configured().gates.KubeProxyNFTablesLocalhostNodePorts).toBe(false);
    expect(configured('--kubernetes-version=1.38').gates.KubeProxyNFTablesLocalhostNodePorts).toBe(true);
    expect(configured('--kubernetes-version=1.38', off).gates.KubeProxyNFTablesLocalhostNodePorts).toBe(
      false,
    );
    expect(parse(['--kubernetes-version=1.36', off]).warnings).toHaveLength(1);
  });
});

describe('flags without a file', () => {
  it('iptables periods govern nftables as well, and a zero is a value', () => {
    const { iptables, nftables, ipvs } = configured(
      '--iptables-sync-period=1m',
      '--iptables-min-sync-period=0',
    );
    expect([iptables.syncPeriod, nftables.syncPeriod, ipvs.syncPeriod]).toEqual([60_000, 60_000, 30_000]);
    expect([iptables.minSyncPeriod, nftables.minSyncPeriod, ipvs.minSyncPeriod]).toEqual([0, 0, 1_000]);
  });

  it('ipvs periods govern ipvs alone', () => {
    const { iptables, ipvs } = configured(
      '--proxy-mode=ipvs',
      '--ipvs-sync-period=1m',
      '--ipvs-min-sync-period=2s',
    );
    expect(ipvs).toMatchObject({ syncPeriod: 60_000, minSyncPeriod: 2_000 });
    expect(iptables).toMatchObject({ syncPeriod: 30_000, minSyncPeriod: 1_000 });
  });

  it.each([
    [['--healthz-port=0'], ''],
    [['--healthz-port=12345'], '0.0.0.0:10256'],
    [['--healthz-bind-address=1.2.3.4'], '1.2.3.4:10256'],
    [['--healthz-bind-address=::', '--healthz-port=80'], '[::]:80'],
    [['--healthz-bind-address=[::1]:90', '--healthz-port=80'], '[::1]:90'],
    [['--healthz-bind-address='], '0.0.0.0:10256'],
    [['--bind-address=::1'], '0.0.0.0:10256'],
  ])('%j listens for health checks on %j', (argv, address) => {
    expect(configured(...argv).healthzBindAddress).toBe(address);
  });

  it('does not combine ports for --write-config-to, which validation then has to say', () => {
    expect(configured('--write-config-to=w', '--healthz-port=0').healthzBindAddress).toBe('0.0.0.0:10256');
  });

  it('warns of deprecated flags', () => {
    expect(parse(['--healthz-port=1', '--metrics-port=2']).warnings).toEqual([
      'Flag --healthz-port has been deprecated, use --healthz-bind-address',
      'Flag --metrics-port has been deprecated, use --metrics-bind-address',
    ]);
  });

  it('an empty bind address leaves the default', () => {
    expect(configured('--bind-address=').bindAddress).toBe('0.0.0.0');
  });

  it('nftables answers node ports on the node IPs only, unless told otherwise', () => {
    expect(configured('--proxy-mode=nftables').nodePortAddresses).toEqual(['primary']);
    expect(configured('--proxy-mode=nftables', '--nodeport-addresses=0.0.0.0/0').nodePortAddresses).toEqual([
      '0.0.0.0/0',
    ]);
    expect(configured('--proxy-mode=iptables').nodePortAddresses).toEqual([]);
  });
});

describe('flags beside a file', () => {
  it('only logging and the host name count', () => {
    const { configuration, nodeName } = parseFile(
      'mode: ipvs\nhostnameOverride: file\nlogging: {verbosity: 2, vmodule: [{filePattern: f, verbosity: 1}]}',
      '--proxy-mode=nftables',
      '--feature-gates=ComponentFlagz=false',
      '--healthz-port=0',
      '--hostname-override= Flag ',
      '-v0',
      '--vmodule=g=2',
      '--kubeconfig=x',
    );
    expect(nodeName).toBe('flag');
    expect(configuration).toMatchObject({
      mode: 'ipvs',
      hostnameOverride: 'flag',
      healthzBindAddress: '0.0.0.0:10256',
      clientConnection: { kubeconfig: '' },
      gates: { ComponentFlagz: true },
      logging: {
        verbosity: 0,
        vmodule: [
          { filePattern: 'g', verbosity: 2 },
          { filePattern: 'f', verbosity: 1 },
        ],
      },
    });
  });

  it('are still read: a syntax error is fatal', () => {
    expect(() => parseFile('', '--oom-score-adj=x')).toThrow(UsageError);
  });
});

describe('the name of the node', () => {
  it('is the host name, or the override, in lower case', () => {
    expect(parse([]).nodeName).toBe('host-1');
    expect(parse(['--hostname-override= Node-A ']).configuration.hostnameOverride).toBe('node-a');
    expect(parseFile('hostnameOverride: Node-B').nodeName).toBe('node-b');
    expect(parseFile('hostnameOverride: Node-B', '--hostname-override=').nodeName).toBe('node-b');
  });

  it('is never empty', () => {
    expect(configurationError(() => parse(['--hostname-override= '])).message).toBe(
      'failed complete: empty hostname-override is invalid',
    );
    expect(configurationError(() => parseFile('hostnameOverride: " "')).message).toBe(
      'empty hostname is invalid',
    );
  });
});

describe('feature gates', () => {
  it('says which have no effect, and which are settled', () => {
    const { warnings } = parse(['--feature-gates=KubeletThing=true,AllowServiceExternalIPs=false']);
    expect(warnings).toHaveLength(2);
    expect(warnings.join('\n')).toContain('KubeletThing');
    expect(warnings.join('\n')).toContain('AllowServiceExternalIPs=false');
  });

  it('bulk switches reach what is not set by name', () => {
    const { gates } = configured('--feature-gates=AllAlpha=true,AllBeta=false,ComponentFlagz=true');
    expect(gates).toMatchObject({
      LoggingAlphaOptions: true,
      ComponentStatusz: false,
      ComponentFlagz: true,
      AllowServiceExternalIPs: true,
    });
  });
});

it('says which file it could not read', () => {
  const error = configurationError(() => parse(['--config', 'missing'], HEADER));
  expect(error.message).toContain('failed complete: cannot read the configuration file missing: ENOENT');
});
