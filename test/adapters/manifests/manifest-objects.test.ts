import { readObjects } from '../../../src/adapters/manifests/manifest-objects.js';

const keys = (...documents: unknown[]): string[] => readObjects(documents).objects.map(({ key }) => key);
const problems = (...documents: unknown[]): string[] =>
  readObjects(documents).issues.map(({ place, problem }) => `${place}: ${problem}`);

describe('readObjects', () => {
  it('reads every kind, with default as the namespace that is not given', () => {
    const documents = [
      { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
      {
        apiVersion: 'discovery.k8s.io/v1',
        kind: 'EndpointSlice',
        metadata: { name: 'web-1', namespace: 'shop' },
      },
      { apiVersion: 'v1', kind: 'Endpoints', metadata: { name: 'web' } },
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1' } },
      { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', metadata: { name: 'kubernetes' } },
    ];
    const { objects, issues } = readObjects(documents);
    expect(issues).toEqual([]);
    expect(objects.map(({ key }) => key)).toEqual([
      'Service/default/web',
      'EndpointSlice/shop/web-1',
      'Endpoints/default/web',
      'Node//n1',
      'ServiceCIDR//kubernetes',
    ]);
    expect(objects[0]!.object).toEqual({ ...documents[0], metadata: { name: 'web', namespace: 'default' } });
    expect(objects[1]!.object).toBe(documents[1]);
  });

  it('opens lists, nested and typed ones', () => {
    const service = { kind: 'Service', metadata: { name: 'a' } };
    expect(keys({ kind: 'List', items: [service, { kind: 'List', items: [service] }] })).toEqual([
      'Service/default/a',
      'Service/default/a',
    ]);
    expect(keys({ kind: 'ServiceList', items: [{ metadata: { name: 'b' } }] })).toEqual([
      'Service/default/b',
    ]);
    expect(problems({ kind: 'List', items: [{ metadata: { name: 'b' } }] })).toEqual([
      'document 1, item 1: has no kind',
    ]);
  });

  it('ignores other kinds, and the same kind of another API group', () => {
    const knative = { apiVersion: 'serving.knative.dev/v1', kind: 'Service', metadata: { name: 'k' } };
    const { objects, ignored, issues } = readObjects([
      knative,
      { apiVersion: 'apps/v1', kind: 'Deployment' },
      { kind: 'PodList', items: [{}, {}] },
      { kind: 'constructor' },
    ]);
    expect(objects).toEqual([]);
    expect(issues).toEqual([]);
    expect(Object.fromEntries(ignored)).toEqual({ Service: 1, Deployment: 1, Pod: 2, constructor: 1 });
  });

  it('reports what has no identity and goes on', () => {
    const good = { kind: 'Service', metadata: { name: 'good' } };
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
      'document 6: Service has no usable metadata.name',
      'document 7: Service has no usable metadata.name',
      'document 8: Service has no usable metadata.name',
      'document 9: Service x has no usable metadata.namespace',
    ]);
  });
});
