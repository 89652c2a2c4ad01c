import { readFileSync } from 'node:fs';
import { parse } from './support.js';

const fixture = (name: string): string =>
  readFileSync(new URL(`./installers/${name}.yaml`, import.meta.url), 'utf8');

describe('configurations as installers write them load unchanged', () => {
  it('kubeadm: everything spelled out, most of it zero', () => {
    const { configuration, warnings } = parse(
      ['--config', 'f', '--hostname-override=node-1'],
      fixture('kubeadm'),
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
    const { configuration, warnings } = parse(['--config', 'f'], fixture('kind'));
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

  // https://github.com/k3s-io/k3s/blob/master/pkg/daemons/agent/agent_linux.go, kubeProxyArgs
  it.each([
    ['127.0.0.1', '10.42.0.0/16,2001:cafe:42::/56', '127.0.0.1:10256'],
    ['::1', '2001:cafe:42::/56', '[::1]:10256'],
  ])('k3s: flags only, with the health check on %s', (healthz, cidrs, healthzBindAddress) => {
    const { configuration, warnings, nodeName } = parse([
      `--cluster-cidr=${cidrs}`,
      '--conntrack-max-per-core=0',
      '--conntrack-tcp-timeout-close-wait=0s',
      '--conntrack-tcp-timeout-established=0s',
      `--healthz-bind-address=${healthz}`,
      '--hostname-override=server-0',
      '--kubeconfig=/var/lib/rancher/k3s/agent/kubeproxy.kubeconfig',
      '--proxy-mode=iptables',
      '--v=2',
      '--vmodule=proxier=4',
    ]);
    expect(warnings).toEqual([]);
    expect(nodeName).toBe('server-0');
    expect(configuration).toMatchObject({
      mode: 'iptables',
      clientConnection: { kubeconfig: '/var/lib/rancher/k3s/agent/kubeproxy.kubeconfig' },
      clusterCIDR: cidrs.split(','),
      healthzBindAddress,
      conntrack: { maxPerCore: 0, tcpEstablishedTimeout: 0, tcpCloseWaitTimeout: 0 },
      logging: { verbosity: 2 },
    });
  });

  it('kubeadm of former releases: what is gone since is ignored with one warning', () => {
    const { configuration, warnings } = parse(['--config', 'f'], fixture('kubeadm-former'));
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
    const { configuration, warnings, nodeName } = parse(
      ['--config', 'f', '--v=2', '--hostname-override=ip-10-0-0-1.ec2.internal'],
      fixture('eks'),
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

  // https://github.com/kubernetes/kubernetes/tree/master/cluster/gce: manifests/kube-proxy.manifest, and
  // prepare-kube-proxy-manifest-variables in gci/configure-helper.sh, which fills it in
  it('GKE: flags only, with gates and periods', () => {
    const { configuration, warnings, master } = parse([
      '--master=https://10.128.0.2',
      '--kubeconfig=/var/lib/kube-proxy/kubeconfig',
      '--cluster-cidr=10.8.0.0/14',
      '--oom-score-adj=-998',
      '--v=2',
      '--feature-gates=ExecProbeTimeout=false,AllAlpha=false',
      '--iptables-sync-period=1m',
      '--iptables-min-sync-period=10s',
      '--ipvs-sync-period=1m',
      '--ipvs-min-sync-period=10s',
      '--detect-local-mode=NodeCIDR',
    ]);
    expect(warnings).toEqual(['ignoring feature gates that have no effect here: ExecProbeTimeout']);
    expect(master).toBe('https://10.128.0.2');
    expect(configuration).toMatchObject({
      clientConnection: { kubeconfig: '/var/lib/kube-proxy/kubeconfig' },
      clusterCIDR: ['10.8.0.0/14'],
      detectLocalMode: 'NodeCIDR',
      oomScoreAdj: -998,
      iptables: { syncPeriod: 60_000, minSyncPeriod: 10_000 },
      ipvs: { syncPeriod: 60_000, minSyncPeriod: 10_000 },
      featureGates: { ExecProbeTimeout: false, AllAlpha: false },
      logging: { verbosity: 2 },
    });
  });
});
