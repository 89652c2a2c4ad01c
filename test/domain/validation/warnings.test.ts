import { warningsOf, EXTERNAL_IPS_END } from '../../../src/domain/validation/warnings.js';

it.each([
  [
    'Service',
    { spec: { externalIPs: ['192.0.2.1'] } },
    [{ field: 'spec.externalIPs', what: EXTERNAL_IPS_END }],
  ],
  ['Service', { spec: { externalIPs: [] } }, []],
  ['Service', { spec: {} }, []],
  ['Service', {}, []],
  ['Node', { spec: { externalIPs: ['192.0.2.1'] } }, []],
])('of a %s like %j', (kind, object, warnings) => {
  expect([...warningsOf(kind, object)]).toEqual(warnings);
});

describe('annotations', () => {
  const annotated = (...names: readonly string[]) => ({
    metadata: { annotations: Object.fromEntries(names.map((name) => [name, ''])) },
  });
  const warned = (kind: string, ...names: readonly string[]) =>
    [...warningsOf(kind, annotated(...names))].map(({ field, what }) => `${field} ${what}`);

  it('that the proxy does not read have a warning, with the nearest name', () => {
    expect(warned('Service', 'kube-proxy-ts/ipvs-schedular', 'kube-proxy-ts/x', 'example.com/x')).toEqual([
      'metadata.annotations[kube-proxy-ts/ipvs-schedular] is no annotation that the proxy reads on a Service; did you mean kube-proxy-ts/ipvs-scheduler?',
      expect.stringContaining('metadata.annotations[kube-proxy-ts/x] is no annotation'),
    ]);
    expect(warned('EndpointSlice', 'kube-proxy-ts/ipvs-scheduler')).toEqual([
      expect.stringContaining('is no annotation that the proxy reads on a EndpointSlice'),
    ]);
  });

  it('that it reads have a warning where their value is wrong, by the kind of object', () => {
    const values = { 'kube-proxy-ts/load-balancing': 'maglv', 'kube-proxy-ts/weight': '1001' };
    const fieldsOf = (kind: string) =>
      [...warningsOf(kind, { metadata: { annotations: values } })].map(({ field, what }) => [
        field,
        what.includes('; did you mean'),
      ]);
    expect(fieldsOf('Service')).toContainEqual(['metadata.annotations[kube-proxy-ts/load-balancing]', true]);
    expect(fieldsOf('EndpointSlice')[0]).toEqual(['metadata.annotations[kube-proxy-ts/weight]', false]);
    expect(fieldsOf('Node')).toEqual([]);
  });

  it('that it reads have none', () => {
    expect(warned('Service', 'kube-proxy-ts/ipvs-scheduler')).toEqual([]);
  });
});
