import { execa } from 'execa';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { OWN_METRICS } from '../../src/adapters/metrics/metric-tables.js';
import { parseExposition, type ShownMetric } from '../support/metrics/exposition.js';
import { specMetrics } from '../support/metrics/spec-metrics.js';
import { sampleOf } from '../support/nightly.js';
import { testNode, testServiceCidr } from '../support/testbed/cluster-objects.js';
import { Command } from '../support/program/command.js';
import { Host } from '../support/testbed/host.js';
import { Namespace } from '../support/program/in-namespace.js';
import { until } from '../support/until.js';
import { syncStateOf } from '../support/program/status.js';

const health = 'http://127.0.0.1:10256';
const metrics = 'http://127.0.0.1:10249';
const checkPort = 32111;

/** Names that are interfaces, although promtool would have them otherwise. */
const KNOWN_LINT = [
  'kubeproxy_sync_proxy_rules_no_local_endpoints_total non-counter metrics should not have "_total" suffix',
  'kubeproxy_sync_proxy_rules_iptables_total non-counter metrics should not have "_total" suffix',
];

/** A Service of both families that load balancers check, with an endpoint of each family on this node, or elsewhere. */
function objects(nodeName: string): string {
  const service = {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'cart', namespace: 'shop' },
    spec: {
      type: 'LoadBalancer',
      clusterIP: '172.30.20.6',
      clusterIPs: ['172.30.20.6', 'fd00:172:30::6'],
      ipFamilies: ['IPv4', 'IPv6'],
      ipFamilyPolicy: 'PreferDualStack',
      externalTrafficPolicy: 'Local',
      healthCheckNodePort: checkPort,
      ports: [{ name: 'http', protocol: 'TCP', port: 80, nodePort: 30186 }],
    },
  };
  const slices = [
    ['IPv4', '10.244.1.11'],
    ['IPv6', 'fd00:10:244:1::11'],
  ].map(([addressType = '', address]) => ({
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `cart-${addressType.toLowerCase()}`,
      namespace: 'shop',
      labels: { 'kubernetes.io/service-name': 'cart' },
    },
    addressType,
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: [{ addresses: [address], nodeName }],
  }));
  return [testNode, testServiceCidr, service, ...slices].map((object) => stringify(object)).join('---\n');
}

describe.each(sampleOf(['nftables', 'iptables']))('the servers of mode %s', (mode) => {
  let namespace: Namespace;
  let node: Host;
  let folder: string;
  let proxy: Command;

  const file = (): string => join(folder, 'objects.yaml');

  beforeAll(async () => {
    namespace = await Namespace.open('server');
    node = new Host(namespace.name);
    folder = await mkdtemp(join(tmpdir(), 'kubeproxy-server-'));
    await writeFile(file(), objects('node1'));
    proxy = await Command.start(node, [
      ...['--proxy-mode', mode, '--hostname-override', 'node1', '--manifests', file()],
      ...['--nodeport-addresses', '0.0.0.0/0,::/0', '--conntrack-max-per-core', '0', '--profiling'],
      ...['--conntrack-tcp-timeout-established', '0', '--conntrack-tcp-timeout-close-wait', '0'],
    ]);
    await proxy.until('everything is programmed', async () => (await syncStateOf(node)).idle);
  });

  afterAll(async () => {
    if (proxy?.running) await proxy.stop('SIGKILL');
    await node.killAgent();
    await namespace.close();
    await rm(folder, { recursive: true, force: true });
  });

  const status = async (url: string): Promise<number> => (await node.get(url)).status;

  async function answer(url: string): Promise<Record<string, unknown>> {
    return JSON.parse((await node.get(url)).body) as Record<string, unknown>;
  }

  async function shown(): Promise<ReadonlyMap<string, ShownMetric>> {
    return parseExposition((await node.get(`${metrics}/metrics`)).body);
  }

  it('say that all is well', async () => {
    expect(await status(`${health}/healthz`)).toBe(200);
    expect(await status(`${health}/livez`)).toBe(200);
    expect(await answer(`${health}/healthz`)).toMatchObject({
      nodeEligible: true,
      healthy: true,
      status: { IPv4: { healthy: true }, IPv6: { healthy: true } },
    });
    expect(await answer(`${health}/readyz`)).toMatchObject({ ready: true });
  });

  it('answer the checks of load balancers on both families, as endpoints come and go', async () => {
    const urls = [`http://127.0.0.1:${checkPort}/`, `http://[::1]:${checkPort}/any`];
    for (const url of urls) {
      await until('the check is answered', async () => (await status(url)) === 200);
      expect(await answer(url)).toEqual({
        service: { namespace: 'shop', name: 'cart' },
        localEndpoints: 1,
        serviceProxyHealthy: true,
      });
    }
    await place(objects('another-node'));
    for (const url of urls) {
      await until('the endpoint has moved', async () => (await status(url)) === 503);
      expect(await answer(url)).toMatchObject({ localEndpoints: 0, serviceProxyHealthy: true });
    }
    await place(objects('node1'));
    for (const url of urls) await until('the endpoint is back', async () => (await status(url)) === 200);
  });

  async function place(text: string): Promise<void> {
    await writeFile(`${folder}/next`, text);
    await rename(`${folder}/next`, file());
  }

  it('tell metrics that promtool accepts', async () => {
    const { body } = await node.get(`${metrics}/metrics`);
    const { exitCode, stderr, stdout } = await execa('promtool', ['check', 'metrics'], {
      input: body,
      reject: false,
    });
    const complaints = `${stdout}\n${stderr}`.split('\n').filter((line) => line.trim() !== '');
    expect(complaints.filter((line) => !KNOWN_LINT.includes(line))).toEqual([]);
    // 3: parsed, with complaints of which all are known.
    expect([0, 3]).toContain(exitCode);
  });

  it('return the metrics of kube-proxy and our own', async () => {
    const all = await shown();
    const own = new Set(Object.values(OWN_METRICS).map(({ name }) => name as string));
    const expected = new Map(specMetrics(mode, true).map((metric) => [metric.name, metric]));
    for (const [name, { type, labels, buckets }] of all) {
      if (!name.startsWith('kubeproxy_') || own.has(name)) continue;
      expect({ name, type, labels, buckets }).toEqual(expected.get(name));
    }
    const samples = new Map([...all.values()].flatMap((metric) => [...metric.samples]));
    for (const family of ['IPv4', 'IPv6']) {
      expect(samples.get(`kube_proxy_ts_service_ports{ip_family="${family}",state="programmed"}`)).toBe(1);
      expect(
        samples.get(`kubeproxy_sync_full_proxy_rules_duration_seconds_count{ip_family="${family}"}`),
      ).toBeGreaterThan(0);
      expect(
        samples.get(`kubeproxy_sync_proxy_rules_last_timestamp_seconds{ip_family="${family}"}`),
      ).toBeGreaterThan(1.7e9);
    }
    expect(samples.get('kubernetes_feature_enabled{name="ComponentStatusz",stage="BETA"}')).toBe(1);
    const nfacct = 'kubeproxy_iptables_ct_state_invalid_dropped_packets_total';
    expect(samples.get(nfacct)).toBe(mode === 'iptables' ? 0 : undefined);
    for (const table of ['filter', 'nat']) {
      const total = `kubeproxy_sync_proxy_rules_iptables_total{table="${table}",ip_family="IPv4"}`;
      expect(samples.get(total)).toBe(mode === 'iptables' ? await ownRules(table) : undefined);
    }
  });

  async function ownRules(table: string): Promise<number> {
    const saved = await namespace.run(['iptables-nft-save', '-t', table]);
    return saved.match(/^-A KUBE-/gm)?.length ?? 0;
  }

  it('show how they are configured, and what runs', async () => {
    expect((await node.get(`${metrics}/proxyMode`)).body).toBe(mode);
    expect(await answer(`${metrics}/configz`)).toMatchObject({
      'kubeproxy.config.k8s.io': {
        kind: 'KubeProxyConfiguration',
        mode,
        nodePortAddresses: ['0.0.0.0/0', '::/0'],
        enableProfiling: true,
      },
    });
    expect((await node.get(`${metrics}/flagz`)).body).toMatch(/^proxy-mode(:|: |=| )(nf|ip)tables$/m);
    expect((await node.get(`${metrics}/statusz`)).body).toMatch(
      /^Paths(:|: |=| )\/configz \/flagz \/healthz \/metrics \/proxyMode$/m,
    );
    expect(await status(`${metrics}/debug/pprof/heap`)).toBe(200);
    expect((await node.get(`${metrics}/healthz?verbose`)).body).toBe('[+]ping ok\nhealthz check passed\n');
    expect((await node.get(`${metrics}/metrics/slis`)).body).toContain(
      'kubernetes_healthchecks_total{name="ping",type="healthz",status="success"} 1',
    );
  });

  it('explain a Service', async () => {
    const known = await Command.run(node, ['explain', 'shop/cart']);
    expect(known.stdout).toMatch(
      /^shop\/cart: ok: 1 of 1 endpoint is ready\n {2}IPv4\n {4}port http TCP: programmed 20/,
    );
    expect(known.stdout).toContain('cluster-ip 172.30.20.6:80 (Cluster): forward, to 1 endpoint');
    expect(known.stdout).toContain('endpoint [fd00:10:244:1::11]:8080: on node1 (this node): ready, used');
    expect(known.stdout).toContain(`health check on port ${checkPort}: listening; endpoints on the node: 1`);
    expect(known.exitCode).toBe(0);
    const unknown = await Command.run(node, ['explain', 'shop/none']);
    expect(unknown).toMatchObject({
      exitCode: 1,
      stdout: expect.stringContaining('there is no Service none'),
    });
  });
});
