import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { V1ConfigMap, V1DaemonSet } from '@kubernetes/client-node';
import { parse, stringify } from 'yaml';
import { typeProblems } from './api-types.js';
import { kustomize, type Manifest } from './cluster-tools.js';

const overlays = ['iptables', 'nftables', 'ipvs', 'userspace'];
const kinds = ['ServiceAccount', 'ClusterRole', 'ClusterRoleBinding', 'ConfigMap', 'DaemonSet'];

const find = <T>(manifests: readonly Manifest[], kind: string): T =>
  manifests.find((manifest) => manifest.kind === kind) as T;

it('has an overlay for each mode, and one that replaces the proxy of kubeadm', async () => {
  expect((await readdir('deploy/overlays')).sort()).toEqual([...overlays, 'replace-kubeadm'].sort());
});

it('replaces nothing of the DaemonSet of kubeadm but its image', async () => {
  expect(await kustomize('deploy/overlays/replace-kubeadm')).toEqual([
    {
      apiVersion: 'apps/v1',
      kind: 'DaemonSet',
      metadata: { name: 'kube-proxy', namespace: 'kube-system' },
      spec: {
        template: {
          spec: {
            containers: [{ name: 'kube-proxy', image: expect.stringMatching(/^kube-proxy-ts:/) }],
          },
        },
      },
    },
  ]);
});

describe.each(['base', ...overlays.map((overlay) => `overlays/${overlay}`)])('deploy/%s', (kustomization) => {
  let manifests: readonly Manifest[];
  beforeAll(async () => {
    manifests = await kustomize(`deploy/${kustomization}`);
  });

  it('gives objects of the types that the API knows', () => {
    expect(manifests.map(({ kind }) => kind).sort()).toEqual([...kinds].sort());
    expect(manifests.flatMap(typeProblems)).toEqual([]);
  });

  it('has names of its own, so that nothing of another proxy is overwritten or selected', () => {
    expect(new Set(manifests.map(({ metadata }) => metadata.name))).toEqual(new Set(['kube-proxy-ts']));
    const { selector, template } = find<V1DaemonSet>(manifests, 'DaemonSet').spec!;
    expect(selector.matchLabels).toEqual({ 'k8s-app': 'kube-proxy-ts' });
    expect(template.metadata!.labels).toMatchObject(selector.matchLabels!);
  });

  it('names one service account, and binds the role to it', () => {
    const account = find<Manifest>(manifests, 'ServiceAccount');
    const binding = find<Manifest & { roleRef: object; subjects: object[] }>(manifests, 'ClusterRoleBinding');
    expect(binding.subjects).toEqual([
      { kind: 'ServiceAccount', name: account.metadata.name, namespace: account.metadata.namespace },
    ]);
    expect(binding.roleRef).toMatchObject({ name: find<Manifest>(manifests, 'ClusterRole').metadata.name });
    const daemonSet = find<V1DaemonSet>(manifests, 'DaemonSet');
    expect(daemonSet.spec?.template.spec?.serviceAccountName).toBe(account.metadata.name);
  });

  it('grants the proxy the one capability that it needs, and a file system that it cannot write to', () => {
    const pod = find<V1DaemonSet>(manifests, 'DaemonSet').spec!.template.spec!;
    expect(pod.containers.map(({ securityContext }) => securityContext)).toEqual([
      {
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'], add: ['NET_ADMIN'] },
      },
    ]);
    expect(pod.initContainers!.map(({ command }) => command!.includes('--init-only'))).toEqual([true]);
  });

  it('configures its mode', () => {
    const { data, metadata } = find<V1ConfigMap>(manifests, 'ConfigMap');
    const configuration = parse(data!['config.conf']!) as { mode?: string };
    expect(configuration.mode).toBe(kustomization.split('/')[1]);
    const pod = find<V1DaemonSet>(manifests, 'DaemonSet').spec!.template.spec!;
    expect(pod.volumes).toContainEqual({ name: 'config', configMap: { name: metadata!.name } });
  });
});

it('grants one capability more where iptables is the legacy one', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'kustomization-'));
  try {
    const [base, component] = ['deploy/base', 'deploy/components/iptables-legacy'].map((path) =>
      relative(folder, resolve(path)),
    );
    const text = stringify({ resources: [base], components: [component] });
    await writeFile(join(folder, 'kustomization.yaml'), text);
    const pod = find<V1DaemonSet>(await kustomize(folder), 'DaemonSet').spec!.template.spec!;
    expect(pod.containers[0]!.securityContext!.capabilities!.add).toEqual(['NET_ADMIN', 'NET_RAW']);
  } finally {
    await rm(folder, { recursive: true });
  }
});

it('sees what the API would not take', () => {
  const object = {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    spec: { selector: { matchLabels: { a: 1 } }, tempate: {}, template: { spec: { containers: {} } } },
  };
  expect(typeProblems(object)).toEqual([
    'DaemonSet.spec.selector.matchLabels.a is not a string',
    'DaemonSet.spec has no field tempate',
    'DaemonSet.spec.template.spec.containers is not a list',
  ]);
});
