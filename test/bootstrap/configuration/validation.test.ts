import { configurationError, parse, parseFile } from './support.js';

const K = 'KubeProxyConfiguration';

/** The problems that validation finds in a file with this body. */
function problemsOf(body: string): readonly string[] {
  const error = configurationError(() => parseFile(body));
  expect(error.phase).toBe('failed validate');
  return error.problems;
}

function problemsOfFlags(...argv: readonly string[]): readonly string[] {
  return configurationError(() => parse(argv)).problems;
}

describe('validation, by the rules of docs/internals/spec/configuration.md §4.2', () => {
  it('1: feature gates must be settable', () => {
    const error = configurationError(() => parseFile('featureGates: {NFTablesProxyMode: false}'));
    expect(error.message).toBe(
      'failed complete: cannot set feature gate NFTablesProxyMode to false, feature is locked to true',
    );
  });

  it.each(['iptables', 'ipvs', 'nftables'])('2: iptables.masqueradeBit, mode %s', (mode) => {
    const path = `${K}.KubeProxyIPTablesConfiguration.MasqueradeBit`;
    expect(problemsOf(`mode: ${mode}\niptables: {masqueradeBit: 32}`)).toEqual([
      `${path}: Invalid value: 32: must be within the range [0, 31]`,
    ]);
    expect(problemsOf(`mode: ${mode}\niptables: {masqueradeBit: -1}`)).toHaveLength(1);
    expect(
      parseFile(`mode: ${mode}\niptables: {masqueradeBit: 0}`).configuration.iptables.masqueradeBit,
    ).toBe(0);
  });

  it('3: ipvs timeouts, only in mode ipvs', () => {
    const ipvs = 'ipvs: {tcpTimeout: -1s, tcpFinTimeout: -2s, udpTimeout: -3s}';
    expect(problemsOf(`mode: ipvs\n${ipvs}`)).toEqual([
      `${K}.KubeProxyIPVSConfiguration.TCPTimeout: Invalid value: "-1s": must be greater than or equal to 0`,
      `${K}.KubeProxyIPVSConfiguration.TCPFinTimeout: Invalid value: "-2s": must be greater than or equal to 0`,
      `${K}.KubeProxyIPVSConfiguration.UDPTimeout: Invalid value: "-3s": must be greater than or equal to 0`,
    ]);
    expect(() => parseFile(`mode: nftables\n${ipvs}`)).not.toThrow();
  });

  it('4: ipvs.excludeCIDRs, only in mode ipvs', () => {
    expect(problemsOf('mode: ipvs\nipvs: {excludeCIDRs: [10.0.0.0/8, x]}')).toEqual([
      `${K}.KubeProxyIPVSConfiguration.ExcludeCidrs[1]: Invalid value: "x": must be a valid CIDR`,
    ]);
    expect(() => parseFile('mode: iptables\nipvs: {excludeCIDRs: [x]}')).not.toThrow();
  });

  it('5: nftables.masqueradeBit, only where nftables may be the mode', () => {
    const problem = `${K}.KubeProxyNFTablesConfiguration.MasqueradeBit: Invalid value: 32: must be within the range [0, 31]`;
    expect(problemsOf('mode: nftables\nnftables: {masqueradeBit: 32}')).toEqual([problem]);
    expect(problemsOf('mode: auto\nnftables: {masqueradeBit: 32}')).toEqual([problem]);
    expect(() => parseFile('mode: iptables\nnftables: {masqueradeBit: 32}')).not.toThrow();
  });

  it('6 and 7: conntrack limits and timeouts', () => {
    const path = `${K}.KubeProxyLinuxConfiguration.KubeProxyConntrackConfiguration`;
    const rule = 'must be greater than or equal to 0';
    expect(
      problemsOf(
        'conntrack: {maxPerCore: -1, min: -2, tcpEstablishedTimeout: -1s, tcpCloseWaitTimeout: -2s, udpTimeout: -3s, udpStreamTimeout: -4s}',
      ),
    ).toEqual([
      `${path}.MaxPerCore: Invalid value: -1: ${rule}`,
      `${path}.Min: Invalid value: -2: ${rule}`,
      `${path}.TCPEstablishedTimeout: Invalid value: "-1s": ${rule}`,
      `${path}.TCPCloseWaitTimeout: Invalid value: "-2s": ${rule}`,
      `${path}.UDPTimeout: Invalid value: "-3s": ${rule}`,
      `${path}.UDPStreamTimeout: Invalid value: "-4s": ${rule}`,
    ]);
  });

  it.each([-1001, 1001])('8: oomScoreAdj %d', (value) => {
    expect(problemsOf(`oomScoreAdj: ${value}`)).toEqual([
      `${K}.KubeProxyLinuxConfiguration.OOMScoreAdj: Invalid value: ${value}: must be within the range [-1000, 1000]`,
    ]);
  });

  it('9: the mode', () => {
    const [problem, ...rest] = problemsOf('mode: kernelspace');
    expect(problem).toContain(
      `${K}.Mode.ProxyMode: Invalid value: "kernelspace": must be auto, iptables, ipvs, nftables, userspace or blank (blank means the best-available proxy`,
    );
    expect(rest).toEqual([]);
    for (const mode of ['iptables', 'ipvs', 'nftables', 'userspace', 'auto', '']) {
      expect(parse([`--proxy-mode=${mode}`]).configuration.mode).toBe(mode);
    }
  });

  it('9: mode ipvs, unless its feature gate is off; its own section is checked nevertheless', () => {
    const off = 'mode: ipvs\nfeatureGates: {KubeProxyIPVS: false}\n';
    const refused = `${K}.Mode.ProxyMode: Invalid value: "ipvs": must be auto, iptables, nftables, userspace or blank (blank means the best-available proxy [currently iptables])`;
    expect(problemsOf(off)).toEqual([refused]);
    expect(problemsOf(`${off}ipvs: {tcpTimeout: -1s}`)).toEqual([
      expect.stringContaining('TCPTimeout'),
      refused,
    ]);
    expect(problemsOfFlags('--proxy-mode=ipvs', '--feature-gates=KubeProxyIPVS=false')).toEqual([refused]);
    expect(() => parseFile('featureGates: {KubeProxyIPVS: false}\nmode: nftables')).not.toThrow();
    for (const version of ['1.36', '1.37', '1.38'])
      expect(parseFile(`mode: ipvs\nkubernetesVersion: ${version}`).configuration.mode).toBe('ipvs');
    expect(parseFile(`${off}kubernetesVersion: 1.36`).warnings).toEqual([
      'ignoring feature gates that have no effect here: KubeProxyIPVS',
    ]);
  });

  it('10: clientConnection.burst', () => {
    expect(problemsOf('clientConnection: {burst: -1}')).toEqual([
      `${K}.ClientConnection.Burst: Invalid value: -1: must be greater than or equal to 0`,
    ]);
  });

  it('11: configSyncPeriod', () => {
    const problem = (value: string) =>
      `${K}.ConfigSyncPeriod: Invalid value: "${value}": must be greater than 0`;
    expect(problemsOf('configSyncPeriod: -1s')).toEqual([problem('-1s')]);
    expect(problemsOfFlags('--config-sync-period=0')).toEqual([problem('0s')]);
  });

  it.each(['iptables', 'ipvs', 'nftables', 'auto'])('12, 13, 14: periods, mode %s', (mode) => {
    const section = mode === 'auto' ? 'iptables' : mode;
    expect(problemsOf(`mode: ${mode}\n${section}: {syncPeriod: -1s, minSyncPeriod: -2s}`)).toEqual([
      `${K}.SyncPeriod: Invalid value: "-1s": must be greater than 0`,
      `${K}.MinSyncPeriod: Invalid value: "-2s": must be greater than or equal to 0`,
    ]);
    expect(problemsOf(`mode: ${mode}\n${section}: {syncPeriod: 10s, minSyncPeriod: 20s}`)).toEqual([
      `${K}.SyncPeriod: Invalid value: "20s": must be greater than or equal to KubeProxyConfiguration.MinSyncPeriod`,
    ]);
  });

  it('12, 13, 14: periods of other modes do not matter', () => {
    expect(() =>
      parseFile('mode: nftables\niptables: {syncPeriod: -1s}\nipvs: {syncPeriod: -1s}'),
    ).not.toThrow();
  });

  it.each(['[::]', '1.2.3.4:80', 'localhost', '1.2.3'])('15: bindAddress %s', (address) => {
    expect(problemsOf(`bindAddress: "${address}"`)).toEqual([
      `${K}.BindAddress: Invalid value: "${address}": not a valid textual representation of an IP address`,
    ]);
  });

  it.each([
    ['16: ', 'healthzBindAddress', 'HealthzBindAddress'],
    ['17: ', 'metricsBindAddress', 'MetricsBindAddress'],
  ])('%s%s', (_number, field, path) => {
    const problems = (value: string) =>
      problemsOf(`${field}: "${value}"`).map((text) => text.split(`"${value}": `));
    expect(problems('localhost')).toEqual([[`${K}.${path}: Invalid value: `, 'must be IP:port']]);
    expect(problems('localhost:80')).toEqual([[`${K}.${path}: Invalid value: `, 'must be a valid IP']]);
    expect(problems(':80')).toEqual([[`${K}.${path}: Invalid value: `, 'must be a valid IP']]);
    expect(problems('1.2.3.4:0')).toEqual([[`${K}.${path}: Invalid value: `, 'must be a valid port']]);
    expect(problems('1.2.3.4:65536')).toEqual([[`${K}.${path}: Invalid value: `, 'must be a valid port']]);
    expect(problems('x:y').map(([, rule]) => rule)).toEqual(['must be a valid IP', 'must be a valid port']);
  });

  it('16 and 17: the addresses of health checks and metrics may be empty', () => {
    expect(parse(['--healthz-port=0']).configuration.healthzBindAddress).toBe('');
    expect(parse(['--metrics-port=0']).configuration.metricsBindAddress).toBe('');
  });

  it('18: primary and other keywords, among CIDRs and in any order', () => {
    for (const list of ['primary', 'all, primary, localhost', '10.0.0.0/8, localhost, primary, localhost'])
      expect(parseFile(`nodePortAddresses: [${list}]`).configuration.nodePortAddresses).toEqual(
        list.split(', '),
      );
    expect(problemsOf('nodePortAddresses: [x, primary, Localhost, " all", ""]')).toEqual(
      [
        [0, 'x'],
        [2, 'Localhost'],
        [3, ' all'],
        [4, ''],
      ].map(
        ([index, value]) =>
          `${K}.NodePortAddresses[${index}]: Invalid value: "${value}": must be a valid CIDR`,
      ),
    );
  });

  it('18: before 1.37 primary stands alone, checking ends there, and there is no other keyword', () => {
    const before = 'kubernetesVersion: 1.36\n';
    for (const keyword of ['localhost', 'all'])
      expect(problemsOf(`${before}nodePortAddresses: [${keyword}]`)).toEqual([
        `${K}.NodePortAddresses[0]: Invalid value: "${keyword}": must be a valid CIDR`,
      ]);
    expect(problemsOf(`${before}nodePortAddresses: [x, primary, z]`)).toEqual([
      `${K}.NodePortAddresses[0]: Invalid value: "x": must be a valid CIDR`,
      `${K}.NodePortAddresses[1]: Invalid value: "primary": can't use both 'primary' and CIDRs`,
    ]);
    expect(parseFile(`${before}nodePortAddresses: [primary]`).configuration.nodePortAddresses).toEqual([
      'primary',
    ]);
  });

  it('19: nodePortAddresses are CIDRs, sloppily written ones too', () => {
    expect(problemsOf('nodePortAddresses: [10.0.0.1]')).toEqual([
      `${K}.NodePortAddresses[0]: Invalid value: "10.0.0.1": must be a valid CIDR`,
    ]);
    expect(() => parseFile('nodePortAddresses: [010.0.0.1/8, "fd00::1/64"]')).not.toThrow();
  });

  it('20: showHiddenMetricsForVersion', () => {
    expect(problemsOf('showHiddenMetricsForVersion: "1.35"')).toEqual([
      `${K}.ShowHiddenMetricsForVersion: Invalid value: "1.35": must be omitted or have the value '1.36'; only the previous minor version is allowed`,
    ]);
    expect(() => parseFile('showHiddenMetricsForVersion: "1.36"')).not.toThrow();
    expect(() => parseFile('showHiddenMetricsForVersion: "1.35"', '--kubernetes-version=1.36')).not.toThrow();
  });

  it('21: detectLocalMode', () => {
    expect(problemsOf('detectLocalMode: clusterCIDR')).toEqual([
      `${K}.DetectLocalMode: Unsupported value: "clusterCIDR": supported values: "ClusterCIDR", "NodeCIDR", "BridgeInterface", "InterfaceNamePrefix", ""`,
    ]);
  });

  it.each([
    ['22', 'BridgeInterface', 'bridgeInterface', 'InterfaceName'],
    ['23', 'InterfaceNamePrefix', 'interfaceNamePrefix', 'InterfacePrefix'],
  ])('%s: mode %s needs a name that an interface could have', (_number, mode, field, path) => {
    expect(problemsOf(`detectLocalMode: ${mode}`)).toEqual([
      `${K}.DetectLocalConfiguration.${path}: Invalid value: "": must not be empty`,
    ]);
    expect(problemsOf(`detectLocalMode: ${mode}\ndetectLocal: {${field}: 'eth0" drop'}`)).toHaveLength(1);
    expect(() => parseFile(`detectLocalMode: ${mode}\ndetectLocal: {${field}: cni0}`)).not.toThrow();
  });

  describe('cluster CIDRs in mode ClusterCIDR', () => {
    const path = `${K}.DetectLocalConfiguration.ClusterCIDRs`;

    it('24: at most two', () => {
      const [problem, ...rest] = problemsOf('clusterCIDR: 10.0.0.0/8,fd00::/8,11.0.0.0/8');
      expect(problem).toContain(`${path}: Invalid value: ["10.0.0.0/8","fd00::/8","11.0.0.0/8"]: `);
      expect(problem).toContain('dual-stack pair');
      expect(rest).toEqual([]);
    });

    it('25: each a CIDR, without spaces', () => {
      const problems = problemsOf('clusterCIDR: 10.0.0.0/8, fd00::/8');
      expect(problems).toHaveLength(1);
      expect(problems[0]).toContain(
        `${path}[1]: Invalid value: " fd00::/8": must be a valid CIDR block (e.g. `,
      );
    });

    it('25: none is not the same as an empty one on the command line', () => {
      const { problems } = configurationError(() => parse(['--cluster-cidr=']));
      expect(problems).toEqual([
        `${path}[0]: Invalid value: "": must be a valid CIDR block (e.g. 10.100.0.0/16 or fde4:8dba:82e1::/48)`,
      ]);
      expect(() => parse(['--cluster-cidr=', '--detect-local-mode=NodeCIDR'])).not.toThrow();
      expect(parseFile('clusterCIDR: ""').configuration.clusterCIDR).toEqual([]);
    });

    it('26: a pair has both families, in any order', () => {
      expect(problemsOf('clusterCIDR: 10.0.0.0/8,11.0.0.0/8')[0]).toContain('dual-stack pair');
      expect(parseFile('clusterCIDR: fd00::/8,10.0.0.0/8').configuration.clusterCIDR).toEqual([
        'fd00::/8',
        '10.0.0.0/8',
      ]);
    });

    it('is nobody’s business in another mode', () => {
      expect(() => parseFile('clusterCIDR: x,y,z\ndetectLocalMode: NodeCIDR')).not.toThrow();
    });
  });

  describe('27: logging', () => {
    const problemsOfLogging = (logging: string): readonly string[] => {
      const error = configurationError(() => parseFile(`logging: ${logging}`));
      expect(error.phase).toBe('initialize logging');
      return error.problems;
    };

    it.each([
      ['{flushFrequency: -1s}', 'logging.flushFrequency: Invalid value: "-1s": Must be greater than zero'],
      ['{format: xml}', 'logging.format: Invalid value: "xml": Unsupported log format'],
      ['{verbosity: 2147483648}', 'logging.verbosity: Invalid value: 2147483648: Must be <= 2147483647'],
      [
        '{format: json, vmodule: [{filePattern: a, verbosity: 1}]}',
        'logging.vmodule: Forbidden: Only supported for text log format',
      ],
      ['{vmodule: [{verbosity: 1}]}', 'logging.vmodule[0]: Required value: File pattern must not be empty'],
      [
        '{vmodule: [{filePattern: "a=b"}]}',
        'logging.vmodule[0]: Invalid value: "a=b": File pattern must not contain equal sign or comma',
      ],
      [
        '{vmodule: [{filePattern: a, verbosity: 4294967295}]}',
        'logging.vmodule[0]: Invalid value: 4294967295: Must be <= 2147483647',
      ],
      [
        '{options: {text: {splitStream: true}}}',
        'logging.options.text.splitStream: Forbidden: Feature LoggingAlphaOptions is disabled',
      ],
      [
        '{options: {json: {infoBufferSize: 64Ki}}}',
        'logging.options.json.infoBufferSize: Forbidden: Feature LoggingAlphaOptions is disabled',
      ],
    ])('%s', (logging, problem) => {
      expect(problemsOfLogging(logging)).toEqual([problem]);
    });

    it('alpha options pass with their gate', () => {
      const { configuration } = parseFile(
        'featureGates: {LoggingAlphaOptions: true}\nlogging: {options: {json: {infoBufferSize: 64Ki}}}',
      );
      expect(configuration.logging.options.json.infoBufferSize).toBe('64Ki');
    });
  });

  it('portRange and udpIdleTimeout, which count in mode userspace alone', () => {
    const bad = 'portRange: 2-1\nudpIdleTimeout: -1s\n';
    expect(problemsOf(`${bad}mode: userspace`)).toEqual([
      `${K}.PortRange: Invalid value: "2-1": must be a port, LOW-HIGH or LOW+OFFSET, of ports up to 65535`,
      `${K}.UDPIdleTimeout: Invalid value: "-1s": must be greater than 0`,
    ]);
    expect(parseFile(`${bad}mode: nftables`).configuration.portRange).toBe('2-1');
    const flags = ['--proxy-mode=userspace', '--proxy-port-range=40000+99', '--udp-timeout=2s'];
    expect(parse(flags).configuration).toMatchObject({ portRange: '40000+99', udpIdleTimeout: 2000 });
    expect(parse([]).configuration).toMatchObject({ portRange: '', udpIdleTimeout: 250 });
  });

  it('reports everything at once, in order and without repeating itself', () => {
    const error = configurationError(() =>
      parseFile('oomScoreAdj: 2000\nmode: x\nbindAddress: z\nconfigSyncPeriod: -1s'),
    );
    expect(error.problems.map((problem) => problem.split(':')[0])).toEqual([
      `${K}.KubeProxyLinuxConfiguration.OOMScoreAdj`,
      `${K}.Mode.ProxyMode`,
      `${K}.ConfigSyncPeriod`,
      `${K}.BindAddress`,
    ]);
    expect(error.message).toBe(`failed validate: [${error.problems.join(', ')}]`);
  });
});
