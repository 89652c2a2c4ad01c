import { readdir, readFile } from 'node:fs/promises';
import type { V1ConfigMap, V1DaemonSet } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { typeProblems } from './api-types.js';
import { helm, kustomize, renderChart, type Manifest } from './cluster-tools.js';

const chart = 'deploy/chart';
/** The values that say what the base's files say of a cluster. */
const cluster = { apiServer: 'https://control-plane.example:6443', clusterCIDR: '10.244.0.0/16' };

const render = (values: object): Promise<readonly Manifest[]> =>
  renderChart(chart, { ...cluster, ...values });

const daemonSet = (manifests: readonly Manifest[]): V1DaemonSet =>
  manifests.find(({ kind }) => kind === 'DaemonSet') as V1DaemonSet;

/** Takes new pods where the chart changes the mode; with a kustomization `kubectl rollout restart` does. */
const MODE = 'kube-proxy-ts/mode';

/** By kind, without what tells a chart's objects from others', with the texts of configurations as what they say. */
function comparable(manifests: readonly Manifest[]): Record<string, object> {
  return Object.fromEntries(
    manifests.map((manifest) => {
      const own = ['app.kubernetes.io/instance', 'app.kubernetes.io/managed-by', 'app.kubernetes.io/version'];
      const labels = Object.entries(manifest.metadata.labels ?? {}).filter(
        ([name]) => !own.includes(name) && name !== 'helm.sh/chart',
      );
      const text = JSON.stringify({
        ...manifest,
        metadata: { ...manifest.metadata, labels: Object.fromEntries(labels) },
      });
      const object = JSON.parse(text, (key, value: unknown) => {
        if (key === 'imagePullPolicy' && value === 'IfNotPresent') return undefined;
        if (key === 'annotations' && Object.keys(value as object).join() === MODE) return undefined;
        return key.endsWith('.conf') ? parse(value as string) : value;
      }) as object;
      return [manifest.kind, object];
    }),
  );
}

it('passes the linter of helm', async () => {
  expect(await helm(['lint', '--strict', chart], cluster)).toContain('0 chart(s) failed');
});

it('has new pods for another mode, whose kernel settings only an init container may set', async () => {
  const annotations = async (values: object): Promise<unknown> =>
    daemonSet(await render(values)).spec!.template.metadata!.annotations;
  expect(await annotations({})).toEqual({ [MODE]: 'iptables' });
  expect(await annotations({ mode: 'nftables' })).toEqual({ [MODE]: 'nftables' });
});

it.each(['', 'iptables', 'nftables', 'ipvs', 'userspace'])(
  'comes to the objects of the kustomization, in mode "%s"',
  async (mode) => {
    const kustomization = mode === '' ? 'deploy/base' : `deploy/overlays/${mode}`;
    expect(comparable(await render({ mode }))).toEqual(comparable(await kustomize(kustomization)));
  },
);

const everything = {
  mode: 'auto',
  config: { nodePortAddresses: ['primary'], conntrack: { maxPerCore: 0 } },
  iptablesLegacy: true,
  nameOverride: 'node-proxy',
  image: {
    repository: 'images.example/kube-proxy-ts',
    digest: `sha256:${'a'.repeat(64)}`,
    pullPolicy: 'Always',
    pullSecrets: [{ name: 'pull' }],
  },
  serviceAccount: { name: 'proxies' },
  priorityClassName: 'mine',
  nodeSelector: { role: 'edge' },
  tolerations: [{ key: 'edge', operator: 'Exists' }],
  affinity: { nodeAffinity: {} },
  updateStrategy: { type: 'OnDelete' },
  resources: { limits: { memory: '300Mi' } },
  podAnnotations: { note: 'text' },
  podLabels: { team: 'net' },
  extraArgs: ['-v=2'],
  metrics: {
    port: 10246,
    podMonitor: { enabled: true, interval: '15s', labels: { release: 'p' } },
    prometheusRule: { enabled: true, labels: { release: 'p' } },
    dashboard: { enabled: true },
  },
};

describe('with every value', () => {
  let manifests: readonly Manifest[];
  beforeAll(async () => {
    manifests = await render(everything);
  });

  it('gives objects of the types that the API knows', () => {
    const known = manifests.filter(({ apiVersion }) => !apiVersion.startsWith('monitoring.coreos.com/'));
    expect(known.flatMap(typeProblems)).toEqual([]);
    expect(manifests).toHaveLength(known.length + 2);
  });

  it('puts each value where it belongs', () => {
    const { metadata, spec } = daemonSet(manifests);
    const pod = spec!.template.spec!;
    const [container] = pod.containers;
    expect(metadata!.name).toBe('node-proxy');
    expect(spec!.updateStrategy).toEqual({ type: 'OnDelete' });
    expect(spec!.template.metadata).toEqual({
      labels: { 'k8s-app': 'node-proxy', team: 'net' },
      annotations: { note: 'text', [MODE]: 'auto' },
    });
    expect(pod).toMatchObject({
      serviceAccountName: 'proxies',
      priorityClassName: 'mine',
      imagePullSecrets: [{ name: 'pull' }],
      nodeSelector: { role: 'edge' },
      tolerations: [{ key: 'edge', operator: 'Exists' }],
      affinity: { nodeAffinity: {} },
    });
    expect(container).toMatchObject({
      image: `images.example/kube-proxy-ts@sha256:${'a'.repeat(64)}`,
      imagePullPolicy: 'Always',
      resources: { limits: { memory: '300Mi' } },
      securityContext: { capabilities: { add: ['NET_ADMIN', 'NET_RAW'] } },
    });
    expect(container!.command!.slice(3)).toEqual(['--scrape-bind-address=[$(POD_IP)]:10246', '-v=2']);
    expect(container!.env!.map(({ name }) => name)).toEqual(['NODE_NAME', 'POD_IP']);
    expect(container!.ports).toContainEqual({ name: 'metrics', containerPort: 10246, hostPort: 10246 });
  });

  it('merges further fields into the configuration', () => {
    const { data } = manifests.find(({ kind }) => kind === 'ConfigMap') as V1ConfigMap;
    expect(parse(data!['config.conf']!)).toMatchObject({ mode: 'auto', ...everything.config });
  });

  it('brings the alerts and the dashboard as they are', async () => {
    const rule = manifests.find(({ kind }) => kind === 'PrometheusRule') as Manifest & { spec: object };
    expect(rule.spec).toEqual(parse(await readFile(`${chart}/monitoring/alerts.yaml`, 'utf8')));
    const dashboard = manifests.find(
      ({ metadata }) => metadata.name === 'node-proxy-dashboard',
    ) as V1ConfigMap;
    expect(JSON.parse(Object.values(dashboard.data!)[0]!)).toEqual(
      JSON.parse(await readFile(`${chart}/monitoring/dashboard.json`, 'utf8')),
    );
    expect(dashboard.metadata!.labels).toMatchObject({ grafana_dashboard: '1' });
  });

  it('lets Prometheus read the port that it opens', () => {
    const monitor = manifests.find(({ kind }) => kind === 'PodMonitor') as Manifest & { spec: object };
    expect(monitor.metadata.labels).toMatchObject({ release: 'p' });
    expect(monitor.spec).toMatchObject({
      selector: { matchLabels: { 'k8s-app': 'node-proxy' } },
      podMetricsEndpoints: [{ port: 'metrics', interval: '15s' }],
    });
  });
});

it('makes no account and no role where others see to that', async () => {
  const kinds = (
    await render({ serviceAccount: { create: false, name: 'theirs' }, rbac: { create: false } })
  ).map(({ kind }) => kind);
  expect(kinds).toEqual(['ConfigMap', 'DaemonSet']);
});

it.each([
  ['no API server', { apiServer: '' }, '/apiServer'],
  ['an API server without a scheme', { apiServer: '10.0.0.1:6443' }, '/apiServer'],
  ['an unknown mode', { mode: 'ebpf' }, '/mode'],
  ['an unknown value', { replicas: 3 }, 'replicas'],
  ['a pod network that is none', { clusterCIDR: 'pods' }, '/clusterCIDR'],
  ['a mode in the wrong place', { config: { mode: 'ipvs' } }, '/config'],
  ['a monitor without a port', { metrics: { podMonitor: { enabled: true } } }, '/metrics/port'],
  ['the name of the proxy of kubeadm', { nameOverride: 'kube-proxy' }, '/nameOverride'],
  ['a digest that is none', { image: { repository: 'a', digest: 'latest' } }, '/image/digest'],
])('refuses %s by name', async (_, values, place) => {
  await expect(render(values)).rejects.toThrow(place);
});

it('describes every value', async () => {
  const values = parse(await readFile(`${chart}/values.yaml`, 'utf8')) as object;
  const schema = JSON.parse(await readFile(`${chart}/values.schema.json`, 'utf8')) as { properties: object };
  expect(Object.keys(schema.properties).sort()).toEqual([...Object.keys(values), 'global'].sort());
  expect((await readdir(`${chart}/templates`)).sort()).toContain('NOTES.txt');
});
