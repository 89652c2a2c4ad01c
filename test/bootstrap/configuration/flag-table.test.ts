import { UsageError } from '../../../src/adapters/cli/usage-error.js';
import { valueAt } from '../../../src/bootstrap/configuration/field.js';
import { proxyFlags, flagValues } from '../../../src/bootstrap/configuration/flags.js';
import { failure, parse } from './support.js';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

/**
 * The rows of docs/internals/spec/configuration.md §2 whose flags stand for fields: the flag, its default, a value to give it, the field,
 * and what the value becomes there.
 */
const FIELDS: readonly (readonly [
  flag: string,
  normal: string,
  given: string,
  path: string,
  expected: unknown,
])[] = [
  [
    'feature-gates',
    '',
    'AllAlpha=true, ComponentFlagz=false',
    'featureGates',
    { AllAlpha: true, ComponentFlagz: false },
  ],
  ['kubeconfig', '', '/k', 'clientConnection.kubeconfig', '/k'],
  [
    'kube-api-content-type',
    'application/vnd.kubernetes.protobuf',
    'application/json',
    'clientConnection.contentType',
    'application/json',
  ],
  ['kube-api-burst', '10', '0x14', 'clientConnection.burst', 20],
  ['kube-api-qps', '5', '2.5', 'clientConnection.qps', 2.5],
  ['hostname-override', '', ' Node-A ', 'hostnameOverride', 'node-a'],
  ['bind-address', '0.0.0.0', 'fd00::1', 'bindAddress', 'fd00::1'],
  ['healthz-bind-address', '0.0.0.0:10256', '10.0.0.1:80', 'healthzBindAddress', '10.0.0.1:80'],
  ['metrics-bind-address', '127.0.0.1:10249', '[::1]:80', 'metricsBindAddress', '[::1]:80'],
  ['bind-address-hard-fail', 'false', 'true', 'bindAddressHardFail', true],
  ['profiling', 'false', 'true', 'enableProfiling', true],
  ['show-hidden-metrics-for-version', '', '1.36', 'showHiddenMetricsForVersion', '1.36'],
  ['proxy-mode', '', 'ipvs', 'mode', 'ipvs'],
  ['iptables-masquerade-bit', '14', '0b11', 'iptables.masqueradeBit', 3],
  ['masquerade-all', 'false', 'true', 'iptables.masqueradeAll', true],
  ['masquerade-all', 'false', 'true', 'nftables.masqueradeAll', true],
  ['iptables-localhost-nodeports', 'true', 'false', 'iptables.localhostNodePorts', false],
  ['iptables-sync-period', '30s', '1m', 'iptables.syncPeriod', 60 * SECOND],
  ['iptables-sync-period', '30s', '1m', 'nftables.syncPeriod', 60 * SECOND],
  ['iptables-min-sync-period', '1s', '0', 'iptables.minSyncPeriod', 0],
  ['iptables-min-sync-period', '1s', '0', 'nftables.minSyncPeriod', 0],
  ['ipvs-sync-period', '30s', '1m', 'ipvs.syncPeriod', 60 * SECOND],
  ['ipvs-min-sync-period', '1s', '2s', 'ipvs.minSyncPeriod', 2 * SECOND],
  ['ipvs-scheduler', '', 'lc', 'ipvs.scheduler', 'lc'],
  ['ipvs-exclude-cidrs', '[]', '10.0.0.0/8,fd00::/8', 'ipvs.excludeCIDRs', ['10.0.0.0/8', 'fd00::/8']],
  ['ipvs-strict-arp', 'false', 'true', 'ipvs.strictARP', true],
  ['ipvs-tcp-timeout', '0s', '15m', 'ipvs.tcpTimeout', 900 * SECOND],
  ['ipvs-tcpfin-timeout', '0s', '2m', 'ipvs.tcpFinTimeout', 120 * SECOND],
  ['ipvs-udp-timeout', '0s', '5m', 'ipvs.udpTimeout', 300 * SECOND],
  ['detect-local-mode', '', 'NodeCIDR', 'detectLocalMode', 'NodeCIDR'],
  ['pod-bridge-interface', '', 'cni0', 'detectLocal.bridgeInterface', 'cni0'],
  ['pod-interface-name-prefix', '', 'veth', 'detectLocal.interfaceNamePrefix', 'veth'],
  ['cluster-cidr', '', '10.0.0.0/8,fd00::/8', 'clusterCIDR', ['10.0.0.0/8', 'fd00::/8']],
  [
    'nodeport-addresses',
    '[]',
    '"10.0.0.0/8",127.0.0.0/8',
    'nodePortAddresses',
    ['10.0.0.0/8', '127.0.0.0/8'],
  ],
  ['oom-score-adj', '-999', '0', 'oomScoreAdj', 0],
  ['conntrack-max-per-core', '32768', '0', 'conntrack.maxPerCore', 0],
  ['conntrack-min', '131072', '1_000', 'conntrack.min', 1000],
  ['conntrack-tcp-timeout-established', '24h0m0s', '0', 'conntrack.tcpEstablishedTimeout', 0],
  ['conntrack-tcp-timeout-close-wait', '1h0m0s', '2h', 'conntrack.tcpCloseWaitTimeout', 2 * HOUR],
  ['conntrack-tcp-be-liberal', 'false', 'true', 'conntrack.tcpBeLiberal', true],
  ['conntrack-udp-timeout', '0s', '30s', 'conntrack.udpTimeout', 30 * SECOND],
  ['conntrack-udp-timeout-stream', '0s', '1.5s', 'conntrack.udpStreamTimeout', 1.5 * SECOND],
  ['config-sync-period', '15m0s', '1h', 'configSyncPeriod', HOUR],
  ['logging-format', 'text', 'json', 'logging.format', 'json'],
  ['log-flush-frequency', '5s', '250ms', 'logging.flushFrequency', 250],
  ['v', '0', '4', 'logging.verbosity', 4],
  ['vmodule', '', 'a=1', 'logging.vmodule', [{ filePattern: 'a', verbosity: 1 }]],
  ['log-text-split-stream', 'false', 'true', 'logging.options.text.splitStream', true],
  ['log-text-info-buffer-size', '0', '64Ki', 'logging.options.text.infoBufferSize', '64Ki'],
  ['log-json-split-stream', 'false', 'true', 'logging.options.json.splitStream', true],
  ['log-json-info-buffer-size', '0', '1M', 'logging.options.json.infoBufferSize', '1M'],
];

/** The other rows of §2: flags that are no fields, with their defaults, a value, and where it goes. */
const OTHERS: readonly (readonly [
  flag: string,
  normal: string,
  given: string,
  place: string,
  expected: unknown,
])[] = [
  ['write-config-to', '', 'w', 'writeConfigTo', 'w'],
  ['cleanup', 'false', 'true', 'cleanup', true],
  ['init-only', 'false', 'true', 'initOnly', true],
  ['master', '', 'https://a', 'master', 'https://a'],
  ['version', 'false', 'v1.36.2', 'version', 'v1.36.2'],
  ['healthz-port', '10256', '0', 'configuration.healthzBindAddress', ''],
  ['metrics-port', '10249', '0', 'configuration.metricsBindAddress', ''],
  ['cleanup-ipvs', 'true', 'false', 'request.name', 'run'],
  ['resource-container', '/kube-proxy', '', 'request.name', 'run'],
  ['machine-id-file', '/etc/machine-id,/var/lib/dbus/machine-id', 'm', 'request.name', 'run'],
  ['boot-id-file', '/proc/sys/kernel/random/boot_id', 'b', 'request.name', 'run'],
];

/** What else must be said so that the value is valid. */
const gateFor = (flag: string): readonly string[] =>
  flag.startsWith('log-') ? ['--feature-gates=LoggingAlphaOptions=true'] : [];

describe('flags (docs/internals/spec/configuration.md §2)', () => {
  const defaults = new Map(flagValues(parse([])));

  it.each([...FIELDS, ...OTHERS])('--%s is %j unless it is given', (flag, normal) => {
    expect(defaults.get(flag)).toBe(normal);
    expect(proxyFlags.get(flag)!.help).not.toBe('');
  });

  it.each(FIELDS)('--%s, else %j, given %j, sets %s', (flag, _normal, given, path, expected) => {
    for (const argv of [[`--${flag}=${given}`], [`--${flag.replaceAll('-', '_')}=${given}`]])
      expect(valueAt(parse([...gateFor(flag), ...argv]).configuration, path)).toEqual(expected);
  });

  it.each(OTHERS)('--%s, else %j, given %j, sets %s', (flag, _normal, given, place, expected) => {
    expect(valueAt(parse([`--${flag}=${given}`]), place)).toEqual(expected);
  });

  it('--config names the file', () => {
    expect(defaults.get('config')).toBe('');
    expect(
      parse(['--config', 'f'], 'apiVersion: kubeproxy.config.k8s.io/v1alpha1\nkind: KubeProxyConfiguration')
        .config,
    ).toBe('f');
  });

  it('--metrics-port other than 0 alone changes nothing (§1.2)', () => {
    expect(parse(['--metrics-port=1']).configuration.metricsBindAddress).toBe('127.0.0.1:10249');
  });

  it('are these, and our own', () => {
    const known = [...FIELDS, ...OTHERS].map(([flag]) => flag);
    const own = [
      'manifests',
      'once',
      'scrape-bind-address',
      'proxy-port-range',
      'udp-timeout',
      'page',
      'debug-routes',
    ];
    expect([...proxyFlags.keys()].filter((flag) => !known.includes(flag) && !own.includes(flag))).toEqual([
      'config',
      'kubernetes-version',
      'service-frontends-limit',
      'eject-unresponsive-endpoints',
      'reset-dead-connections',
      'check-forwarding',
      'service-traffic-metrics',
      'service-traffic-metrics-limit',
    ]);
  });

  it.each(['logtostderr', 'log-dir', 'stderrthreshold', 'alsologtostderr'])('--%s is gone', (flag) => {
    expect(failure(UsageError, () => parse([`--${flag}=1`])).message).toContain(`unknown flag: --${flag}`);
  });

  it.each(['-x', '-hostname-override=a'])('%s is no flag', (argument) => {
    expect(failure(UsageError, () => parse([argument])).message).toContain('unknown flag: -');
  });
});
