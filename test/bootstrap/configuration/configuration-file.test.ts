import { configurationError, HEADER, parse, parseFile } from './support.js';

const decodingError = (content: string) =>
  configurationError(() => parse(['--config', 'f'], content)).message;

describe('decoding', () => {
  it.each([
    ['mode: iptables', `Object 'Kind' is missing in '{"mode":"iptables"}'`],
    ['', "Object 'Kind' is missing in 'null'"],
    ['kind: KubeProxyConfiguration', "Object 'apiVersion' is missing in"],
    [
      'kind: KubeProxyConfiguration\napiVersion: kubeproxy.config.k8s.io/v1beta1',
      'no kind "KubeProxyConfiguration" is registered for version "kubeproxy.config.k8s.io/v1beta1"',
    ],
    ['kind: Pod\napiVersion: v1', 'no kind "Pod" is registered for version "v1"'],
    [`${HEADER}bindAddress: ::`, 'at line 3'],
    [`${HEADER}mode: [`, 'at line'],
  ])('refuses %j', (content, message) => {
    const error = decodingError(content);
    expect(error).toMatch(/^failed complete: failed to decode: /);
    expect(error).toContain(message);
  });

  it.each([
    ['oomScoreAdj: "5"', 'oomScoreAdj: expected an integer from -2147483648 to 2147483647, found "5"'],
    ['oomScoreAdj: 1.5', 'oomScoreAdj: expected an integer'],
    ['mode: 5', 'mode: expected a string, found 5'],
    ['iptables: {syncPeriod: 30}', 'iptables.syncPeriod: expected a string, found 30'],
    ['iptables: {syncPeriod: 30 s}', 'iptables.syncPeriod: expected a duration such as 30s, found "30 s"'],
    ['iptables: true', 'iptables: expected a map, found true'],
    ['nodePortAddresses: primary', 'nodePortAddresses: expected a list of strings, found "primary"'],
    ['nodePortAddresses: [1]', 'nodePortAddresses: expected a string, found 1'],
    ['featureGates: {A: "true"}', 'featureGates: expected true or false, found "true"'],
    ['bindAddressHardFail: 1', 'bindAddressHardFail: expected true or false, found 1'],
    ['showHiddenMetricsForVersion: 1.35', 'showHiddenMetricsForVersion: expected a string, found 1.35'],
    ['logging: {verbosity: -1}', 'logging.verbosity: expected an integer from 0'],
  ])('refuses %j, naming the field', (body, message) => {
    expect(decodingError(HEADER + body)).toContain(message);
  });

  it('names all fields of a wrong type', () => {
    const error = decodingError(`${HEADER}mode: 5\nconntrack: {min: x}\nunknown: 1`);
    expect(error).toContain('mode: ');
    expect(error).toContain('conntrack.min: ');
  });

  it('ignores unknown and repeated fields with one warning; the last one wins', () => {
    const { configuration, warnings } = parseFile(
      'mode: ipvs\nfoo: 1\nMode: x\niptables:\n  bar: 2\n  masqueradeBit: 1\n  masqueradeBit: 2\nmode: nftables',
    );
    expect(configuration.mode).toBe('nftables');
    expect(configuration.iptables.masqueradeBit).toBe(2);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain('strict decoding error: ');
    for (const text of [
      'key "mode" already set in map',
      'key "masqueradeBit" already set in map',
      'unknown field "foo"',
      'unknown field "Mode"',
      'unknown field "iptables.bar"',
    ]) {
      expect(warnings[0]).toContain(text);
    }
  });

  it('names of the language’s own objects are unknown fields like others', () => {
    expect(parseFile('constructor: {}\niptables: {toString: 1}').warnings[0]).toContain(
      'unknown field "constructor", unknown field "iptables.toString"',
    );
  });

  it('reads JSON, and the first of several documents', () => {
    const json =
      '{"apiVersion":"kubeproxy.config.k8s.io/v1alpha1","kind":"KubeProxyConfiguration","mode":"ipvs"}';
    expect(parse(['--config', 'f'], json).configuration.mode).toBe('ipvs');
    expect(parse(['--config', 'f'], `---\n${HEADER}mode: ipvs\n---\nkind: Other\n`).configuration.mode).toBe(
      'ipvs',
    );
  });

  it('reads a flush frequency in nanoseconds', () => {
    expect(parseFile('logging: {flushFrequency: 2000000000}').configuration.logging.flushFrequency).toBe(
      2_000,
    );
    expect(parseFile('logging: {flushFrequency: 3s}').configuration.logging.flushFrequency).toBe(3_000);
  });
});

describe('defaults', () => {
  it('a zero means unset', () => {
    const { configuration } = parseFile(
      'clientConnection: {qps: 0, burst: 0, contentType: ""}\nconfigSyncPeriod: 0s\n' +
        'iptables: {syncPeriod: 0s, minSyncPeriod: 0s}\nnftables: {syncPeriod: 0s, minSyncPeriod: 0s}\n' +
        'ipvs: {syncPeriod: 0s}\nlogging: {format: "", flushFrequency: 0}\nbindAddress: ""',
    );
    expect(configuration).toMatchObject({
      bindAddress: '0.0.0.0',
      clientConnection: { qps: 5, burst: 10, contentType: 'application/vnd.kubernetes.protobuf' },
      configSyncPeriod: 900_000,
      iptables: { syncPeriod: 30_000, minSyncPeriod: 1_000 },
      ipvs: { syncPeriod: 30_000, minSyncPeriod: 0 },
      nftables: { syncPeriod: 30_000, minSyncPeriod: undefined },
      logging: { format: 'text', flushFrequency: 5_000 },
    });
  });

  it('unless the field can say so', () => {
    const { configuration } = parseFile(
      'oomScoreAdj: 0\niptables: {masqueradeBit: 0, localhostNodePorts: false}\nnftables: {masqueradeBit: 0}\n' +
        'conntrack: {maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0s, tcpCloseWaitTimeout: 0s}',
    );
    expect(configuration).toMatchObject({
      oomScoreAdj: 0,
      iptables: { masqueradeBit: 0, localhostNodePorts: false },
      nftables: { masqueradeBit: 0 },
      conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: 0, tcpCloseWaitTimeout: 0 },
    });
  });

  it('nftables.minSyncPeriod is known to be set', () => {
    expect(parseFile('nftables: {minSyncPeriod: 2s}').configuration.nftables.minSyncPeriod).toBe(2_000);
  });

  it.each([
    ['', '0.0.0.0:10256', '127.0.0.1:10249'],
    ['bindAddress: 10.0.0.1', '0.0.0.0:10256', '127.0.0.1:10249'],
    ['bindAddress: "::"', '[::]:10256', '[::1]:10249'],
    [
      'bindAddress: "::"\nhealthzBindAddress: 1.2.3.4\nmetricsBindAddress: "::"',
      '1.2.3.4:10256',
      '[::]:10249',
    ],
    ['healthzBindAddress: ""\nmetricsBindAddress: 0.0.0.0:9', '0.0.0.0:10256', '0.0.0.0:9'],
  ])('with %j the servers listen on %s and %s', (body, healthz, metrics) => {
    expect(parseFile(body).configuration).toMatchObject({
      healthzBindAddress: healthz,
      metricsBindAddress: metrics,
    });
  });
});
