import { parse as parseYaml } from 'yaml';
import { effectiveConfiguration } from '../../../src/bootstrap/configuration/configuration-file.js';
import { parse, parseFile } from './support.js';

/** docs/internals/spec/configuration.md §5: what is written with no other flags. */
const DEFAULTS = `
apiVersion: kubeproxy.config.k8s.io/v1alpha1
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection: {acceptContentTypes: "", burst: 10, contentType: application/vnd.kubernetes.protobuf, kubeconfig: "", qps: 5}
clusterCIDR: ""
configSyncPeriod: 15m0s
conntrack: {maxPerCore: 32768, min: 131072, tcpBeLiberal: false, tcpCloseWaitTimeout: 1h0m0s, tcpEstablishedTimeout: 24h0m0s, udpStreamTimeout: 0s, udpTimeout: 0s}
detectLocal: {bridgeInterface: "", interfaceNamePrefix: ""}
detectLocalMode: ClusterCIDR
enableProfiling: false
healthzBindAddress: 0.0.0.0:10256
hostnameOverride: ""
iptables: {localhostNodePorts: true, masqueradeAll: false, masqueradeBit: 14, minSyncPeriod: 1s, syncPeriod: 30s}
ipvs: {excludeCIDRs: null, minSyncPeriod: 0s, scheduler: "", strictARP: false, syncPeriod: 0s, tcpFinTimeout: 0s, tcpTimeout: 0s, udpTimeout: 0s}
kind: KubeProxyConfiguration
logging: {flushFrequency: 5s, format: text, options: {json: {infoBufferSize: "0"}, text: {infoBufferSize: "0"}}, verbosity: 0}
metricsBindAddress: 127.0.0.1:10249
mode: iptables
nftables: {masqueradeAll: false, masqueradeBit: 14, minSyncPeriod: 0s, syncPeriod: 0s}
nodePortAddresses: null
oomScoreAdj: -999
portRange: ""
showHiddenMetricsForVersion: ""
winkernel: {enableDSR: false, forwardHealthCheckVip: false, networkName: "", rootHnsEndpointName: "", sourceVip: ""}
`;

const effective = (...argv: readonly string[]) => effectiveConfiguration(parse(argv));

describe('effectiveConfiguration (docs/internals/spec/configuration.md §5)', () => {
  it('is without flags what kube-proxy writes, in its order', () => {
    expect(JSON.stringify(effective())).toBe(JSON.stringify(parseYaml(DEFAULTS)));
  });

  it('forgets the periods and masqueradeAll of other modes (§3.1)', () => {
    expect(effective('--proxy-mode=ipvs', '--masquerade-all')).toMatchObject({
      iptables: { masqueradeAll: true, syncPeriod: '0s', minSyncPeriod: '0s', localhostNodePorts: true },
      ipvs: { syncPeriod: '30s', minSyncPeriod: '1s' },
      nftables: { masqueradeAll: false, syncPeriod: '0s', minSyncPeriod: '0s' },
    });
    expect(effective('--proxy-mode=nftables', '--masquerade-all')).toMatchObject({
      iptables: { masqueradeAll: false, syncPeriod: '0s', minSyncPeriod: '0s' },
      ipvs: { syncPeriod: '0s', minSyncPeriod: '0s' },
      nftables: { masqueradeAll: true, syncPeriod: '30s', minSyncPeriod: '1s' },
      nodePortAddresses: ['primary'],
    });
  });

  it('shows keywords as they are given, and the release that is asked for', () => {
    const written = effective('--nodeport-addresses=primary,localhost', '--kubernetes-version=1.38');
    expect(written).toMatchObject({
      nodePortAddresses: ['primary', 'localhost'],
      kubernetesVersion: '1.38',
    });
    expect(effective()).not.toHaveProperty('kubernetesVersion');
  });

  it('keeps everything while the mode is open', () => {
    expect(effective('--proxy-mode=auto', '--iptables-sync-period=1m')).toMatchObject({
      mode: 'auto',
      iptables: { syncPeriod: '1m0s' },
      nftables: { syncPeriod: '1m0s' },
    });
  });

  it('writes what is set, and leaves out what kube-proxy leaves out (§5)', () => {
    const { configuration } = parseFile(
      'featureGates: {LoggingAlphaOptions: true, ComponentFlagz: false}\n' +
        'logging: {options: {text: {splitStream: true, infoBufferSize: 64Ki}}, vmodule: [{filePattern: a, verbosity: 1}]}\n' +
        'clusterCIDR: "10.0.0.0/8,fd00::/8"\nnodePortAddresses: [10.0.0.0/8]\nwindowsRunAsService: true\n' +
        'conntrack: {udpTimeout: 1500ms}',
    );
    const written = effectiveConfiguration({ configuration });
    expect(written).toMatchObject({
      featureGates: { ComponentFlagz: false, LoggingAlphaOptions: true },
      logging: {
        options: { json: { infoBufferSize: '0' }, text: { infoBufferSize: '64Ki', splitStream: true } },
        vmodule: [{ filePattern: 'a', verbosity: 1 }],
      },
      clusterCIDR: '10.0.0.0/8,fd00::/8',
      nodePortAddresses: ['10.0.0.0/8'],
      windowsRunAsService: true,
      conntrack: { udpTimeout: '1.5s' },
    });
    expect(Object.keys(written.featureGates as object)).toEqual(['ComponentFlagz', 'LoggingAlphaOptions']);
  });
});
