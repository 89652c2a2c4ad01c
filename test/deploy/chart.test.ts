import { readdir, readFile } from 'node:fs/promises';
import type { V1ConfigMap, V1DaemonSet } from '@kubernetes/client-node';
import { parse } from 'yaml';
import { typeProblems } from './api-types.js';
import { helm, kustomize, renderChart, type Manifest } from './cluster-tools.js';

const chart = 'deploy/chart';
/** The values that say what the base's files say of a cluster. */
const cluster = { apiServer: 'https://control-plane.example:6443', clusterCIDR: '10.244.0.0/16' };

const API_SERVER_REQUIRED =
  "apiServer is required: the API server's address that works without a service proxy, for example https://10.0.0.10:6443";
const CLUSTER_CIDR_REQUIRED =
  'clusterCIDR is required while config.detectLocalMode is ClusterCIDR, the default: the pod network of the cluster, ' +
  'for example 10.244.0.0/16. For another detection of local traffic, set config.detectLocalMode to NodeCIDR, BridgeInterface or InterfaceNamePrefix';

const render = (values: object): Promise<readonly Manifest[]> =>
  renderChart(chart, { ...cluster, ...values });

const daemonSet = (manifests: readonly Manifest[]): V1DaemonSet =>
  manifests.find(({ kind }) => kind === 'DaemonSet') as V1DaemonSet;

/** What kubectl logs and exec mean without a container's name. */
const DEFAULT_CONTAINER = { 'kubectl.kubernetes.io/default-container': 'kube-proxy-ts' };

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
        if (key === MODE) return undefined;
        // A kustomization of one's own says where the image is.
        if (key === 'image') return (value as string).replace('ghcr.io/OWNER/', '');
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
  expect(await annotations({})).toEqual({ ...DEFAULT_CONTAINER, [MODE]: 'nftables' });
  expect(await annotations({ mode: 'iptables' })).toEqual({ ...DEFAULT_CONTAINER, [MODE]: 'iptables' });
});

it.each(['iptables', 'nftables', 'ipvs', 'userspace'])(
  'has the objects of the kustomization, in %s mode',
  async (mode) => {
    expect(comparable(await render({ mode }))).toEqual(
      comparable(await kustomize(`deploy/overlays/${mode}`)),
    );
  },
);

it.each([
  [{}, true],
  [{ checkForwarding: true }, true],
  [{ checkForwarding: false }, false],
])('checks forwarding, unless it is told otherwise: %j', async (config, expected) => {
  const { data } = (await render({ config })).find(({ kind }) => kind === 'ConfigMap') as V1ConfigMap;
  expect(parse(data!['config.conf']!)).toMatchObject({ checkForwarding: expected });
});

it('uses nftables mode by default', async () => {
  expect(comparable(await render({}))).toEqual(comparable(await kustomize('deploy/overlays/nftables')));
});

it.each([
  [{ apiServer: '' }, API_SERVER_REQUIRED],
  [{ apiServer: null }, API_SERVER_REQUIRED],
  [{ apiServer: '', clusterCIDR: '' }, API_SERVER_REQUIRED],
  [{ clusterCIDR: '' }, CLUSTER_CIDR_REQUIRED],
  [{ clusterCIDR: null }, CLUSTER_CIDR_REQUIRED],
  [{ clusterCIDR: '', config: { detectLocalMode: '' } }, CLUSTER_CIDR_REQUIRED],
  [{ clusterCIDR: '', config: { detectLocalMode: 'ClusterCIDR' } }, CLUSTER_CIDR_REQUIRED],
])('explains what is missing in %j', async (values, message) => {
  const error = await render(values).catch(String);
  const [, shown] =
    /execution error at \(kube-proxy-ts\/templates\/[\w.-]+:\d+:\d+\): (.*)/.exec(error as string) ?? [];
  expect(shown).toBe(message);
});

it.each(['NodeCIDR', 'BridgeInterface', 'InterfaceNamePrefix'])(
  'needs no pod network with detectLocalMode %s',
  async (detectLocalMode) => {
    const { data } = (await render({ clusterCIDR: '', config: { detectLocalMode } })).find(
      ({ kind }) => kind === 'ConfigMap',
    ) as V1ConfigMap;
    expect(parse(data!['config.conf']!)).toMatchObject({ detectLocalMode });
    expect(parse(data!['config.conf']!)).not.toHaveProperty('clusterCIDR');
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
      annotations: { note: 'text', ...DEFAULT_CONTAINER, [MODE]: 'auto' },
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

  it.each([
    ['labelled', [{ operator: 'In', values: ['edge-proxy'] }]],
    ['unlabelled', [{ operator: 'In', values: ['edge-proxy'] }, { operator: 'DoesNotExist' }]],
  ])('runs on %s nodes', async (nodes, expected) => {
    const rendered = await render({ ...everything, nameOverride: 'edge-proxy', affinity: {}, nodes });
    const { nodeAffinity } = daemonSet(rendered).spec!.template.spec!.affinity!;
    const { nodeSelectorTerms } = nodeAffinity!.requiredDuringSchedulingIgnoredDuringExecution!;
    expect(nodeSelectorTerms).toEqual(
      expected.map((one) => ({ matchExpressions: [{ key: 'service-proxy', ...one }] })),
    );
    await expect(render({ ...everything, nodes })).rejects.toThrow('do not set affinity, too');
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

it('keeps texts texts that YAML would read as something else', async () => {
  const manifests = await render({
    nameOverride: '1e3',
    serviceAccount: { name: '123' },
    priorityClassName: 'true',
    image: { repository: '0x10', tag: '1.10' },
    podLabels: { on: 'off' },
    podAnnotations: { text: 'one\nhostPID: true' },
    extraArgs: ['--logging-format=text\n- --cleanup'],
  });
  expect(manifests.flatMap(typeProblems)).toEqual([]);
  const { metadata, spec } = daemonSet(manifests).spec!.template;
  expect(metadata!.labels).toEqual({ 'k8s-app': '1e3', on: 'off' });
  expect(metadata!.annotations).toMatchObject({ text: 'one\nhostPID: true' });
  expect(spec).toMatchObject({ serviceAccountName: '123', priorityClassName: 'true' });
  expect(spec).not.toHaveProperty('hostPID');
  expect(spec!.containers[0]!.image).toBe('0x10:1.10');
  expect(spec!.containers[0]!.command!.at(-1)).toBe('--logging-format=text\n- --cleanup');
});

it.each([
  ['an API server without a scheme', { apiServer: '10.0.0.1:6443' }, '/apiServer'],
  ['an API server and more', { apiServer: 'https://10.0.0.1:6443/\ntls: false' }, '/apiServer'],
  ['an unknown mode', { mode: 'ebpf' }, '/mode'],
  ['no mode', { mode: '' }, '/mode'],
  ['an unknown value', { replicas: 3 }, 'replicas'],
  ['a pod network that is none', { clusterCIDR: 'pods' }, '/clusterCIDR'],
  ['a mode in the wrong place', { config: { mode: 'ipvs' } }, "'mode'"],
  ['a pod network in the wrong place', { config: { clusterCIDR: '10.0.0.0/8' } }, "'clusterCIDR'"],
  ['another kind of configuration', { config: { kind: 'Pod' } }, "'kind'"],
  ['another version of it', { config: { apiVersion: 'v1' } }, "'apiVersion'"],
  ['another kubeconfig', { config: { clientConnection: { kubeconfig: '/x' } } }, "'kubeconfig'"],
  ['a misspelled field', { config: { nodeportAddresses: [] } }, "'nodeportAddresses'"],
  ['a misspelled field below', { config: { conntrack: { maxPercore: 0 } } }, "'maxPercore'"],
  ['a field of another type', { config: { nodePortAddresses: 'primary' } }, '/config/nodePortAddresses'],
  [
    'health where the probes do not ask',
    { config: { healthzBindAddress: '0.0.0.0:10300' } },
    '/config/healthzBindAddress',
  ],
  ['a monitor without a port', { metrics: { podMonitor: { enabled: true } } }, '/metrics/port'],
  ['metrics at the port of health', { metrics: { port: 10256 } }, '/metrics/port'],
  [
    'metrics at a port that is taken',
    { metrics: { port: 10249 }, config: { metricsBindAddress: '0.0.0.0:10249' } },
    'metrics.port: port 10249 is in use by config.metricsBindAddress (0.0.0.0:10249)',
  ],
  ['the name of the proxy of kubeadm', { nameOverride: 'kube-proxy' }, '/nameOverride'],
  ['a digest that is none', { image: { repository: 'a', digest: 'latest' } }, '/image/digest'],
  ['an image and more', { image: { repository: 'a\nhostPID: true' } }, '/image/repository'],
  ['a tag and more', { image: { repository: 'a', tag: '1 # x' } }, '/image/tag'],
  ['a priority class and more', { priorityClassName: 'a\n      hostPID: true' }, '/priorityClassName'],
  ['an account and more', { serviceAccount: { name: 'a\nhostPID: true' } }, '/serviceAccount/name'],
  ["the label of the chart's own pods", { podLabels: { 'k8s-app': 'mine' } }, '/podLabels/k8s-app'],
  [
    'an annotation that the chart has',
    { podAnnotations: { 'kube-proxy-ts/mode': 'x' } },
    '/podAnnotations/kube-proxy-ts~1mode',
  ],
  [
    'a label that the chart has',
    { metrics: { dashboard: { labels: { 'helm.sh/chart': 'x' } } } },
    '/metrics/dashboard/labels/helm.sh~1chart',
  ],
  ['a label that is none', { podLabels: { team: 'the net' } }, '/podLabels/team'],
  ['a misspelled toleration', { tolerations: [{ keys: 'x' }] }, "'keys'"],
  ['a misspelled affinity', { affinity: { nodeAfinity: {} } }, "'nodeAfinity'"],
  ['misspelled resources', { resources: { limit: {} } }, "'limit'"],
  ['a misspelled update', { updateStrategy: { rollingUpdate: { max: 1 } } }, "'max'"],
  ['a share that is none', { updateStrategy: { rollingUpdate: { maxSurge: 'all' } } }, '/maxSurge'],
])('refuses %s by name', async (_, values, place) => {
  await expect(render(values)).rejects.toThrow(place);
});

it.each([
  ...['--cleanup', '--cleanup=true', '--once', '--init-only', '--version', '--help', '-h', '--'],
  ...['--config=/x', '--write-config-to=/x', '--manifests=/x', '--master=http://x', '--kubeconfig=/x'],
  ...['--hostname-override=x', '--scrape-bind-address=0.0.0.0', '--proxy-mode=ipvs', '--nosuch=1', '-v'],
])(
  'refuses the argument %s, which ends the proxy, is set by the chart, or would be ignored',
  async (argument) => {
    await expect(render({ extraArgs: [argument] })).rejects.toThrow("'/extraArgs/0'");
  },
);

it('takes every argument that applies beside the file', async () => {
  const extraArgs = ['-v=2', '--v=2', '--logging-format=json', '--page', '--page=false'];
  const { command } = daemonSet(await render({ extraArgs })).spec!.template.spec!.containers[0]!;
  expect(command!.slice(3)).toEqual(extraArgs);
});

it('describes every value', async () => {
  const values = parse(await readFile(`${chart}/values.yaml`, 'utf8')) as object;
  const schema = JSON.parse(await readFile(`${chart}/values.schema.json`, 'utf8')) as { properties: object };
  expect(Object.keys(schema.properties).sort()).toEqual([...Object.keys(values), 'global'].sort());
  expect((await readdir(`${chart}/templates`)).sort()).toContain('NOTES.txt');
});
