import { parse, parseFile } from './support.js';

describe('configurations as installers write them load unchanged', () => {
  it('kubeadm: everything spelled out, most of it zero', () => {
    const { configuration, warnings } = parseFile(
      `
bindAddress: 0.0.0.0
bindAddressHardFail: false
clientConnection:
  acceptContentTypes: ""
  burst: 0
  contentType: ""
  kubeconfig: /var/lib/kube-proxy/kubeconfig.conf
  qps: 0
clusterCIDR: 10.244.0.0/16
configSyncPeriod: 0s
conntrack:
  maxPerCore: null
  min: null
  tcpBeLiberal: false
  tcpCloseWaitTimeout: null
  tcpEstablishedTimeout: null
  udpStreamTimeout: 0s
  udpTimeout: 0s
detectLocal: {bridgeInterface: "", interfaceNamePrefix: ""}
detectLocalMode: ""
enableProfiling: false
healthzBindAddress: ""
hostnameOverride: ""
iptables:
  localhostNodePorts: null
  masqueradeAll: false
  masqueradeBit: null
  minSyncPeriod: 0s
  syncPeriod: 0s
ipvs:
  excludeCIDRs: null
  minSyncPeriod: 0s
  scheduler: ""
  strictARP: false
  syncPeriod: 0s
  tcpFinTimeout: 0s
  tcpTimeout: 0s
  udpTimeout: 0s
logging:
  flushFrequency: 0
  options:
    json: {infoBufferSize: "0"}
    text: {infoBufferSize: "0"}
  verbosity: 0
metricsBindAddress: ""
mode: ""
nftables: {masqueradeAll: false, masqueradeBit: null, minSyncPeriod: 0s, syncPeriod: 0s}
nodePortAddresses: null
oomScoreAdj: null
portRange: ""
showHiddenMetricsForVersion: ""
winkernel: {enableDSR: false, forwardHealthCheckVip: false, networkName: "", rootHnsEndpointName: "", sourceVip: ""}
`,
      '--hostname-override=node-1',
    );
    expect(warnings).toEqual([]);
    const { clientConnection, clusterCIDR, ...rest } = configuration;
    const {
      clientConnection: _c,
      clusterCIDR: _d,
      ...defaults
    } = parse(['--hostname-override=node-1']).configuration;
    expect(clientConnection.kubeconfig).toBe('/var/lib/kube-proxy/kubeconfig.conf');
    expect(clusterCIDR).toEqual(['10.244.0.0/16']);
    expect(rest).toEqual({ ...defaults, ipvs: { ...defaults.ipvs, minSyncPeriod: 0 } });
  });

  it('kind: a few fields and conntrack left alone', () => {
    const { configuration, warnings } = parseFile(`
mode: "iptables"
iptables: {minSyncPeriod: 1s}
conntrack: {maxPerCore: 0}
`);
    expect(warnings).toEqual([]);
    expect(configuration).toMatchObject({ mode: 'iptables', conntrack: { maxPerCore: 0, min: 131072 } });
  });

  it('kops: flags only', () => {
    const { configuration, master, nodeName } = parse([
      '--cluster-cidr=100.96.0.0/11',
      '--conntrack-max-per-core=131072',
      '--hostname-override=i-0123456789',
      '--kubeconfig=/var/lib/kube-proxy/kubeconfig',
      '--master=https://127.0.0.1',
      '--oom-score-adj=-998',
      '--v=2',
    ]);
    expect({ master, nodeName }).toEqual({ master: 'https://127.0.0.1', nodeName: 'i-0123456789' });
    expect(configuration).toMatchObject({
      clusterCIDR: ['100.96.0.0/11'],
      conntrack: { maxPerCore: 131072 },
      oomScoreAdj: -998,
      logging: { verbosity: 2 },
    });
  });

  it('k3s: flags only, a bare health check address', () => {
    const { configuration } = parse([
      '--cluster-cidr=10.42.0.0/16,2001:cafe:42::/56',
      '--conntrack-max-per-core=0',
      '--conntrack-tcp-timeout-close-wait=0s',
      '--conntrack-tcp-timeout-established=0s',
      '--healthz-bind-address=127.0.0.1',
      '--hostname-override=server-0',
      '--kubeconfig=/var/lib/rancher/k3s/agent/kubeproxy.kubeconfig',
      '--proxy-mode=iptables',
    ]);
    expect(configuration).toMatchObject({
      clusterCIDR: ['10.42.0.0/16', '2001:cafe:42::/56'],
      healthzBindAddress: '127.0.0.1:10256',
      conntrack: { maxPerCore: 0, tcpEstablishedTimeout: 0, tcpCloseWaitTimeout: 0 },
    });
  });

  it('kubeadm of former releases: what is gone since is ignored with one warning', () => {
    const { configuration, warnings } = parseFile(`
bindAddress: 0.0.0.0
clientConnection: {kubeconfig: /var/lib/kube-proxy/kubeconfig.conf}
clusterCIDR: 192.168.0.0/16
conntrack: {max: null, maxPerCore: null, min: null, tcpCloseWaitTimeout: null, tcpEstablishedTimeout: null}
resourceContainer: /kube-proxy
mode: ""
`);
    expect(configuration).toMatchObject({
      clusterCIDR: ['192.168.0.0/16'],
      conntrack: { maxPerCore: 32768, min: 131072 },
    });
    expect(warnings).toEqual([
      'using lenient decoding of the configuration file: strict decoding error: ' +
        'unknown field "conntrack.max", unknown field "resourceContainer"',
    ]);
  });

  it('EKS: a ConfigMap, and the name of the node by flag', () => {
    const { configuration, warnings, nodeName } = parseFile(
      `
bindAddress: 0.0.0.0
clientConnection:
  acceptContentTypes: ""
  burst: 10
  contentType: application/vnd.kubernetes.protobuf
  kubeconfig: /var/lib/kube-proxy/kubeconfig
  qps: 5
clusterCIDR: ""
configSyncPeriod: 15m0s
conntrack: {maxPerCore: 32768, min: 131072, tcpCloseWaitTimeout: 1h0m0s, tcpEstablishedTimeout: 24h0m0s}
enableProfiling: false
healthzBindAddress: 0.0.0.0:10256
hostnameOverride: ""
iptables: {masqueradeAll: false, masqueradeBit: 14, minSyncPeriod: 0s, syncPeriod: 30s}
ipvs: {excludeCIDRs: null, minSyncPeriod: 0s, scheduler: "", syncPeriod: 30s}
metricsBindAddress: 0.0.0.0:10249
mode: "iptables"
nodePortAddresses: null
oomScoreAdj: -998
portRange: ""
`,
      '--v=2',
      '--hostname-override=ip-10-0-0-1.ec2.internal',
    );
    expect(warnings).toEqual([]);
    expect(nodeName).toBe('ip-10-0-0-1.ec2.internal');
    expect(configuration).toMatchObject({
      mode: 'iptables',
      iptables: { minSyncPeriod: 1_000 },
      metricsBindAddress: '0.0.0.0:10249',
      oomScoreAdj: -998,
      logging: { verbosity: 2 },
    });
  });

  it('GKE: flags only, with gates and periods', () => {
    const { configuration } = parse([
      '--cluster-cidr=10.8.0.0/14',
      '--detect-local-mode=NodeCIDR',
      '--feature-gates=ExecProbeTimeout=false,AllAlpha=false',
      '--iptables-min-sync-period=10s',
      '--iptables-sync-period=1m',
      '--ipvs-min-sync-period=10s',
      '--ipvs-sync-period=1m',
      '--kubeconfig=/var/lib/kube-proxy/kubeconfig',
      '--master=https://10.128.0.2',
      '--oom-score-adj=-998',
      '--v=2',
    ]);
    expect(configuration).toMatchObject({
      detectLocalMode: 'NodeCIDR',
      iptables: { syncPeriod: 60_000, minSyncPeriod: 10_000 },
      featureGates: { ExecProbeTimeout: false, AllAlpha: false },
    });
  });
});
