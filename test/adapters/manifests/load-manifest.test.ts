import { ManifestObjects } from '../../../src/adapters/manifests/load-manifest.js';
import { ManifestPart } from '../../../src/adapters/manifests/manifest-text.js';

function read(...documents: unknown[]): ManifestObjects {
  const found = new ManifestObjects();
  const source = new ManifestPart('', 1);
  documents.forEach((value, index) => {
    for (const _ of found.add({ value, number: index + 1, source, index })) continue;
  });
  return found;
}

const keys = (...documents: unknown[]): string[] => read(...documents).objects.map(({ key }) => key);
const problems = (...documents: unknown[]): string[] =>
  read(...documents).rejected.map(({ subject, problem }) => `${subject}: ${problem}`);
const slice = (fields: object, metadata: object = {}): object => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'web-1', labels: { 'kubernetes.io/service-name': 'web' }, ...metadata },
  addressType: 'IPv4',
  ...fields,
});
const service = (spec: object, metadata: object = {}): object => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'web', ...metadata },
  spec: { clusterIP: '10.96.0.1', ports: [{ port: 80 }], ...spec },
});

describe('objects of a manifest', () => {
  it('are of every kind that is read, with default as the namespace that is not given', () => {
    const documents = [
      service({}),
      slice({}, { namespace: 'shop' }),
      { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web' } },
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
      {
        apiVersion: 'networking.k8s.io/v1',
        kind: 'ServiceCIDR',
        metadata: { name: 'kubernetes' },
        spec: { cidrs: ['10.96.0.0/16'] },
      },
    ];
    const { objects, rejected } = read(...documents);
    expect(rejected).toEqual([]);
    expect(objects.map(({ key }) => key)).toEqual([
      'Service/default/web',
      'EndpointSlice/shop/web-1',
      'Endpoints/default/web',
      'Node//n1',
      'ServiceCIDR//kubernetes',
    ]);
    expect(objects[0]!.object).toMatchObject({ metadata: { name: 'web', namespace: 'default' } });
    expect(objects[1]!.object).toBe(documents[1]);
  });

  it('may be in lists, nested and typed ones, but not in a typed list inside a list', () => {
    const [a, b] = ['a', 'b'].map((name) => service({}, { name }));
    expect(keys({ kind: 'List', items: [a, { kind: 'List', items: [b] }] })).toEqual([
      'Service/default/a',
      'Service/default/b',
    ]);
    expect(
      keys({ kind: 'ServiceList', items: [{ metadata: { name: 'b' }, spec: { ports: [{ port: 1 }] } }] }),
    ).toEqual(['Service/default/b']);
    expect(problems({ kind: 'List', items: [{ metadata: { name: 'b' } }] })).toEqual([
      'document 1, item 1: has no kind',
    ]);
    const nested = { kind: 'List', items: [a, { kind: 'ServiceList', items: [b] }] };
    expect(keys(nested)).toEqual(['Service/default/a']);
    expect(problems(nested)).toEqual([
      'document 1, item 2: kind: a ServiceList cannot be inside a list; put its items there',
    ]);
  });

  it('are of no other kind, nor of the same kind of another API group', () => {
    const knative = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', metadata: { name: 'k' } };
    const { objects, ignored, rejected } = read(
      knative,
      { apiVersion: 'apps/v1', kind: 'Deployment' },
      { kind: 'PodList', items: [{}, {}] },
      { kind: 'constructor' },
    );
    expect(objects).toEqual([]);
    expect(rejected).toEqual([]);
    expect(Object.fromEntries(ignored)).toEqual({ Service: 1, Deployment: 1, Pod: 2, constructor: 1 });
  });

  it.each([
    ['service', 'Service'],
    ['Servce', 'Service'],
    ['Endpointslice', 'EndpointSlice'],
    ['Endpoint', 'Endpoints'],
  ])('are not of a misspelled kind: %s', (kind, meant) => {
    expect(problems({ kind, metadata: { name: 'web' } })).toEqual([
      `document 1: kind: "${kind}" is not a kind of Kubernetes; did you mean ${meant}?`,
    ]);
    expect(problems({ apiVersion: 'example.com/v1', kind, metadata: { name: 'web' } })).toEqual([]);
  });

  it('get the defaults of an API server', () => {
    const found = read(
      service({ clusterIP: 'fd00::1', externalIPs: ['192.0.2.1'] }),
      slice({ ports: [{ port: 8080 }, { name: 'b', protocol: 'UDP', port: 53 }] }),
    );
    expect(found.rejected).toEqual([]);
    expect(found.objects.map(({ object }) => object)).toMatchObject([
      {
        spec: {
          type: 'ClusterIP',
          clusterIPs: ['fd00::1'],
          ipFamilies: ['IPv6'],
          ipFamilyPolicy: 'SingleStack',
          ports: [{ port: 80, protocol: 'TCP' }],
          sessionAffinity: 'None',
          internalTrafficPolicy: 'Cluster',
          externalTrafficPolicy: 'Cluster',
        },
      },
      {
        ports: [
          { name: '', protocol: 'TCP', port: 8080 },
          { name: 'b', protocol: 'UDP', port: 53 },
        ],
      },
    ]);
  });

  it('have an identity; what has none is reported', () => {
    const good = service({}, { name: 'good' });
    const documents = [
      null,
      'text',
      [good],
      {},
      { kind: 7 },
      { kind: 'Service' },
      { kind: 'Service', metadata: { name: 3 } },
      { kind: 'Service', metadata: { name: 'a/b' } },
      { kind: 'Service', metadata: { name: 'x', namespace: ['y'] } },
      good,
    ];
    expect(keys(...documents)).toEqual(['Service/default/good']);
    expect(problems(...documents)).toEqual([
      'document 2: is not an object',
      'document 3: is not an object',
      'document 4: has no kind',
      'document 5: has no kind',
      'Service (document 6): metadata.name: is missing or invalid',
      'Service (document 7): metadata.name: is missing or invalid',
      'Service (document 8): metadata.name: is missing or invalid',
      'Service (document 9): metadata.namespace: is missing or invalid',
    ]);
  });

  it('occur once: of two of the same name the first counts', () => {
    const both = [service({}), service({ clusterIP: '10.96.0.2' })];
    expect(read(...both).objects.map(({ object }) => object)).toMatchObject([
      { spec: { clusterIP: '10.96.0.1' } },
    ]);
    expect(problems(...both)).toEqual([
      'Service default/web: metadata.name: is already used by document 1; that one is used',
    ]);
  });
});

describe('what the API server would refuse', () => {
  it.each([
    ['apiVersion', { ...service({}), apiVersion: 'v2' }],
    ['apiVersion', { ...service({}), apiVersion: 'apps/v1' }],
    ['apiVersion', { ...service({}), apiVersion: 1 }],
    ['apiVersion', { ...slice({}), apiVersion: 'discovery.k8s.io/v1beta1' }],
    ['apiVersion', { ...slice({}), apiVersion: 'v1' }],
    ['metadata.name', service({}, { name: 'Web' })],
    ['metadata.labels.version', service({}, { labels: { version: 1 } })],
    ['spec.clusterIP', service({ clusterIP: '10.96.0' })],
    [
      'spec.loadBalancerSourceRanges[0]',
      service({ type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.1'] }),
    ],
    ['spec.externalTrafficPolicy', service({ type: 'NodePort', externalTrafficPolicy: 'local' })],
    ['spec.sessionAffinity', service({ sessionAffinity: 'Cookie' })],
    ['spec.ports[0].protocol', service({ ports: [{ port: 1, protocol: 'tcp' }] })],
    ['spec.type', service({ type: 'Loadbalancer' })],
    ['spec.externalIPs[0]', service({ externalIPs: ['nowhere'] })],
    ['spec.externalIPs[0]', service({ externalIPs: ['127.0.0.1'] })],
    ['addressType', slice({ addressType: 'IPv9' })],
    [
      'endpoints[0].conditions.ready',
      slice({ endpoints: [{ addresses: ['10.0.0.1'], conditions: { ready: 'false' } }] }),
    ],
    ['endpoints[0].addresses[0]', slice({ endpoints: [{ addresses: ['169.254.0.1'] }] })],
    ['endpoints[0].addresses', slice({ endpoints: [{}] })],
    // The API server takes it; the proxy cannot.
    ['ports[0].port', slice({ ports: [{ port: 70_000 }] })],
    ['spec.podCIDRs[0]', { kind: 'Node', metadata: { name: 'n1' }, spec: { podCIDRs: ['x'] } }],
    ['spec.cidrs[0]', { kind: 'ServiceCIDR', metadata: { name: 'a' }, spec: { cidrs: ['x'] } }],
  ])('is reported with its field, and the object ignored: %s of %j', (field, object) => {
    const { objects, rejected } = read(object);
    expect(objects).toEqual([]);
    expect(rejected.map(({ problem }) => problem.split(': ')[0])).toEqual([field]);
    expect(rejected[0]!.key).toMatch(/^(Service|EndpointSlice|Node|ServiceCIDR)\//);
  });

  it('is all named at once', () => {
    expect(problems(service({ type: 'X', sessionAffinity: 'Y' }))).toHaveLength(2);
  });

  it('is not what is only odd', () => {
    const odd = [
      service({ type: 'LoadBalancer', externalTrafficPolicy: 'Local' }),
      slice({ ports: [{ port: 80 }] }),
    ];
    expect(problems(...odd)).toEqual([]);
  });
});

it('twenty problems of an object are named, the others counted', () => {
  const ports = Array.from({ length: 20_000 }, (_, index) => ({ name: `p${index}`, port: 0 }));
  const found = problems(service({ ports }));
  expect(found).toHaveLength(21);
  expect(found.at(-1)).toMatch(/: has 39979 more problems$/);
});
