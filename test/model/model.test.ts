import { Model } from './model.js';
import type { Client, Configuration, EndpointSlice, Node, Service } from './objects.js';

// What the recordings do not contain, by docs/internals/spec/model.md.

const NODE: Node = {
  name: 'n1',
  zone: '',
  podCIDRs: ['10.244.1.0/24'],
  primaryAddresses: ['192.0.2.4'],
  localAddresses: ['127.0.0.1', '192.0.2.4'],
};
const CONFIGURATION: Configuration = { mode: 'nftables', clusterCIDR: '10.244.0.0/16' };
const OUTSIDE: Client = { kind: 'outside', source: '198.51.100.9', inputInterface: 'eth0' };
const POD: Client = { kind: 'pod', source: '10.244.1.5', inputInterface: 'veth1' };
const WEB = { address: '10.96.0.1', port: 80, protocol: 'TCP' } as const;

const service = (spec: Partial<Service['spec']> = {}, status: Service['status'] = {}): Service => ({
  metadata: { namespace: 'shop', name: 'web' },
  spec: { type: 'ClusterIP', clusterIP: '10.96.0.1', ports: [{ port: 80 }], ...spec },
  status,
});

type SliceEndpoint = NonNullable<EndpointSlice['endpoints']>[number];

const slice = (
  endpoints: readonly SliceEndpoint[],
  labels: Readonly<Record<string, string>> = {},
): EndpointSlice => ({
  metadata: { namespace: 'shop', name: 'web-1', labels: { 'kubernetes.io/service-name': 'web', ...labels } },
  addressType: 'IPv4',
  ports: [{ name: '', port: 8080 }],
  endpoints,
});

const at = (address: string, parts: Partial<SliceEndpoint> = {}): SliceEndpoint => ({
  addresses: [address],
  ...parts,
});

function model(services: readonly Service[], slices: readonly EndpointSlice[]): Model {
  return new Model({ services, slices, serviceCIDRs: ['10.96.0.0/16'] }, NODE, CONFIGURATION);
}

it('a pod that is its own endpoint is masqueraded, and the others see its address', () => {
  const outcome = model([service()], [slice([at('10.244.1.5'), at('10.244.2.6')])]).outcome(POD, WEB);
  expect(outcome).toEqual({
    kind: 'endpoints',
    affinitySeconds: 0,
    hashesSource: false,
    draws: [
      { address: '10.244.1.5', port: 8080, share: 0.5, masqueraded: true },
      { address: '10.244.2.6', port: 8080, share: 0.5, masqueraded: false },
    ],
  });
});

it('an endpoint that terminates in one slice and is ready in another is ready', () => {
  const ready = slice([at('10.244.2.6')]);
  const old = slice([at('10.244.2.6', { conditions: { ready: false, serving: true, terminating: true } })]);
  const other = slice([at('10.244.2.7')]);
  for (const slices of [
    [ready, old, other],
    [old, ready, other],
  ]) {
    const outcome = model([service()], slices).outcome(POD, WEB);
    expect(outcome).toMatchObject({ draws: [{ address: '10.244.2.6' }, { address: '10.244.2.7' }] });
  }
});

it('slices of headless Services are not read', () => {
  const headless = slice([at('10.244.2.6')], { 'service.kubernetes.io/headless': '' });
  expect(model([service()], [headless]).outcome(POD, WEB)).toEqual({ kind: 'rejected' });
});

it('a source range that contains everybody makes the others meaningless', () => {
  const balanced = (...loadBalancerSourceRanges: readonly string[]): Service =>
    service(
      { type: 'LoadBalancer', loadBalancerSourceRanges },
      { loadBalancer: { ingress: [{ ip: '203.0.113.1' }] } },
    );
  const outcome = (...ranges: readonly string[]) =>
    model([balanced(...ranges)], [slice([at('10.244.2.6')])]).outcome(OUTSIDE, {
      ...WEB,
      address: '203.0.113.1',
    });
  expect(outcome('192.0.2.0/24')).toEqual({ kind: 'dropped' });
  expect(outcome('192.0.2.0/24', ' 0.0.0.0/0')).toMatchObject({ kind: 'endpoints' });
  expect(outcome('2001:db8::/32')).toMatchObject({ kind: 'endpoints' });
});

it('external IPs follow externalTrafficPolicy, also those of a ClusterIP Service', () => {
  const local = service({ externalIPs: ['203.0.113.1'], externalTrafficPolicy: 'Local' });
  const found = model([local], [slice([at('10.244.2.6')])]);
  expect(found.outcome(OUTSIDE, { ...WEB, address: '203.0.113.1' })).toEqual({ kind: 'dropped' });
  expect(found.outcome(POD, { ...WEB, address: '203.0.113.1' })).toMatchObject({
    draws: [{ masqueraded: false }],
  });
});

it('an address of the node in the service range stays the node’s', () => {
  const own = new Model({ services: [], slices: [], serviceCIDRs: ['192.0.2.0/24'] }, NODE, CONFIGURATION);
  expect(own.outcome(OUTSIDE, { ...WEB, address: '192.0.2.4' })).toEqual({ kind: 'untouched' });
  expect(own.outcome(OUTSIDE, { ...WEB, address: '192.0.2.5' })).toEqual({ kind: 'dropped' });
});

it('health checks count ready pods of this node once, whatever ports they have', () => {
  const balanced = service({
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Local',
    healthCheckNodePort: 32111,
    ports: [
      { name: 'a', port: 80 },
      { name: 'b', port: 81 },
    ],
  });
  const both = {
    ...slice([at('10.244.1.5', { nodeName: 'n1' }), at('10.244.2.6', { nodeName: 'n2' })]),
    ports: [
      { name: 'a', port: 8080 },
      { name: 'b', port: 8081 },
    ],
  };
  expect(model([balanced], [both]).healthChecks()).toEqual([
    { port: 32111, family: 'IPv4', service: 'shop/web', localEndpoints: 1 },
  ]);
});

it('a connection may go on while its endpoint serves, or finishes what it has', () => {
  const draining = at('10.244.2.6', { conditions: { ready: false, serving: true, terminating: true } });
  const found = model([service()], [slice([at('10.244.2.7'), draining])]);
  expect(found.mayContinue(WEB, '10.244.2.6:8080')).toBe(true);
  expect(found.mayContinue(WEB, '10.244.2.8:8080')).toBe(false);
});

describe('Services that request one address', () => {
  const named = (name: string, spec: Partial<Service['spec']>, creationTimestamp?: string): Service => ({
    metadata: { namespace: 'shop', name, creationTimestamp },
    spec: { type: 'ClusterIP', ports: [{ port: 80 }], ...spec },
  });
  const of = (name: string): EndpointSlice => ({
    ...slice([at(`10.244.2.${name.length}`)]),
    metadata: { namespace: 'shop', name, labels: { 'kubernetes.io/service-name': name } },
  });
  const owner = (services: readonly Service[], slices: readonly EndpointSlice[], address: string) => {
    const outcome = model(services, slices).outcome(OUTSIDE, { ...WEB, address });
    return outcome.kind === 'endpoints' ? outcome.draws[0]!.address : outcome.kind;
  };
  const shared = { externalIPs: ['203.0.113.7'] };

  it('a cluster IP comes before an external IP', () => {
    const services = [
      named('web', { clusterIP: '10.96.0.1' }),
      named('thief', { clusterIP: '10.96.0.2', externalIPs: ['10.96.0.1'] }, '2020-01-01T00:00:00Z'),
    ];
    expect(owner(services, [of('web'), of('thief')], '10.96.0.1')).toBe('10.244.2.3');
    expect(model(services, []).conflicts()).toEqual(['shop/thief']);
  });

  it('one with endpoints comes first, then the older one, then the first by name', () => {
    const older = named('older', { clusterIP: '10.96.0.1', ...shared }, '2024-01-01T00:00:00Z');
    const young = named('young!', { clusterIP: '10.96.0.2', ...shared }, '2025-01-01T00:00:00Z');
    const manifest = named('manifest', { clusterIP: '10.96.0.3', ...shared });
    const all = [manifest, young, older];
    const slices = [of('older'), of('young!'), of('manifest')];
    expect(owner(all, slices, '203.0.113.7')).toBe('10.244.2.5');
    expect(owner(all, slices.slice(1), '203.0.113.7')).toBe('10.244.2.6');
    expect(
      owner([manifest, { ...young, metadata: { namespace: 'shop', name: 'young!' } }], slices, '203.0.113.7'),
    ).toBe('10.244.2.8');
  });
});

it('weights give shares, of the Service before the slice, and do not stop traffic', () => {
  const annotated = <Kind extends Service | EndpointSlice>(object: Kind, weight?: string): Kind =>
    weight === undefined
      ? object
      : { ...object, metadata: { ...object.metadata, annotations: { 'kube-proxy-ts/weight': weight } } };
  const weighted = (weights: string, ofSlice?: string) => {
    const web = annotated(service(), weights);
    const slices = [annotated(slice([at('10.244.2.6'), at('10.244.2.7')]), ofSlice)];
    const outcome = model([web], slices).outcome(POD, WEB);
    return outcome.kind === 'endpoints'
      ? outcome.draws.map(({ address, share }) => [address.at(-1), share])
      : outcome;
  };
  expect(weighted('{"10.244.2.6": 3}')).toEqual([
    ['6', 0.75],
    ['7', 0.25],
  ]);
  expect(weighted('{"10.244.2.6": 0}')).toEqual([['7', 1]]);
  expect(weighted('{"10.244.2.6": 0}', '0')).toEqual([
    ['6', 0.5],
    ['7', 0.5],
  ]);
  expect(weighted('{"10.244.2.6": 1}', '3')).toEqual([
    ['6', 0.25],
    ['7', 0.75],
  ]);
  expect(weighted('{"10.244.2.6": -1}', 'many')).toEqual([
    ['6', 0.5],
    ['7', 0.5],
  ]);
  expect(weighted('nonsense')).toEqual([
    ['6', 0.5],
    ['7', 0.5],
  ]);
});

it('special addresses are neither frontends nor endpoints', () => {
  const found = model(
    [service({ externalIPs: ['127.0.0.1'] })],
    [slice([at('169.254.1.1'), at('127.0.0.1')])],
  );
  expect(found.outcome(POD, WEB)).toEqual({ kind: 'rejected' });
  expect(found.outcome(POD, { ...WEB, address: '127.0.0.1' })).toEqual({ kind: 'untouched' });
});
