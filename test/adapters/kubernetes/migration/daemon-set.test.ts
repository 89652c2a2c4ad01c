import {
  mountedFiles,
  programOf,
  versionOf,
  type DaemonSet,
} from '../../../../src/adapters/kubernetes/migration/daemon-set.js';

const set = (image: string, labels = {}, container = 'kube-proxy', items?: readonly object[]): DaemonSet => ({
  metadata: { name: 'proxy', namespace: 'kube-system', labels },
  spec: {
    template: {
      spec: {
        containers: [{ name: container, image }],
        volumes: [{ name: 'config', configMap: { name: 'map', ...(items && { items: items as never }) } }],
        nodeSelector: {},
      },
    },
  },
});

it.each([
  ['registry.k8s.io/kube-proxy:v1.36.0', {}, 'kube-proxy', 'kube-proxy'],
  ['602401143452.dkr.ecr.example/eks/kube-proxy:v1.35.0-eksbuild.2', {}, 'kube-proxy', 'kube-proxy'],
  ['registry.example/kube-proxy-ts:0.1.0', {}, 'kube-proxy', 'kube-proxy-ts'],
  ['registry.example/mirror@sha256:0123456789abcdef', {}, 'kube-proxy-ts', 'kube-proxy-ts'],
  ['registry.example/mirror:1', { 'app.kubernetes.io/name': 'kube-proxy-ts' }, 'main', 'kube-proxy-ts'],
  ['registry.example/kube-router:1', {}, 'main', undefined],
])('knows the program of %s', (image, labels, container, program) => {
  expect(programOf(set(image, labels, container))).toBe(program);
});

it.each([
  ['registry.example:5000/kube-proxy:v1.36.0', 'v1.36.0'],
  ['registry.example:5000/kube-proxy:v1.36.0@sha256:0123456789abcdef', 'v1.36.0'],
  ['registry.example:5000/kube-proxy@sha256:0123456789abcdef', '0123456789ab'],
  ['registry.example:5000/kube-proxy', '-'],
])('knows the version of %s', (image, version) => {
  expect(versionOf(image)).toBe(version);
});

describe('files of config maps', () => {
  const keys = () => ['config.conf', 'other'];
  const mounted = (daemonSet: DaemonSet, subPath?: string) => {
    const mount = { name: 'config', mountPath: '/etc/proxy', ...(subPath !== undefined && { subPath }) };
    const container = { ...daemonSet.spec.template.spec.containers[0]!, volumeMounts: [mount] };
    return mountedFiles(daemonSet, container, keys).map(({ path, key }) => `${path} ${key}`);
  };

  it('are all of its keys', () => {
    expect(mounted(set('x'))).toEqual(['/etc/proxy/config.conf config.conf', '/etc/proxy/other other']);
  });

  it('are those that the volume names, under other names', () => {
    expect(mounted(set('x', {}, 'x', [{ key: 'config.conf', path: 'config' }]))).toEqual([
      '/etc/proxy/config config.conf',
    ]);
  });

  it('may be one, in a place of its own', () => {
    expect(mounted(set('x'), 'other')).toEqual(['/etc/proxy other']);
  });
});
