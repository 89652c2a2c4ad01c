import {
  endpointSliceRules,
  endpointsRules,
  metadataRules,
  serviceRules,
} from '../../../src/domain/border/api-rules.js';
import { rawService, rawSlice } from '../../support/objects.js';

/** Each problem begins with the field that it is about. */
const fieldOf = (problem: string): string => problem.split(' ')[0]!;

describe('a Service', () => {
  const rules = (spec: object, rest: object = {}) => serviceRules(rawService(spec, rest));

  it('may use every value that Kubernetes knows, and leave them out', () => {
    expect(rules({})).toEqual([]);
    for (const type of ['ClusterIP', 'NodePort', 'LoadBalancer', 'ExternalName', '', null])
      expect(rules({ type })).toEqual([]);
    for (const policy of ['Cluster', 'Local', '', null])
      expect(rules({ externalTrafficPolicy: policy, internalTrafficPolicy: policy })).toEqual([]);
    expect(rules({ sessionAffinity: 'ClientIP', ipFamilies: ['IPv6', 'IPv4'] })).toEqual([]);
    const ingress = [{ ip: '127.0.0.1', ipMode: 'Proxy' }, { hostname: 'a' }, { ipMode: 'VIP' }];
    expect(rules({ externalIPs: ['192.0.2.1'] }, { status: { loadBalancer: { ingress } } })).toEqual([]);
  });

  it.each([
    ['spec.type', { type: 'Loadbalancer' }],
    ['spec.externalTrafficPolicy', { externalTrafficPolicy: 'local' }],
    ['spec.internalTrafficPolicy', { internalTrafficPolicy: 'Nearby' }],
    ['spec.sessionAffinity', { sessionAffinity: 'Cookie' }],
    ['spec.ipFamilies[1]', { ipFamilies: ['IPv4', 'ipv6'] }],
    ['spec.externalIPs[1]', { externalIPs: ['192.0.2.1', '127.0.0.1'] }],
  ])('may not use another value in %s', (field, spec) => {
    expect(rules(spec).map(fieldOf)).toEqual([field]);
  });

  it('is told of everything at once, with the values that are known', () => {
    const ingress = [{ ip: '192.0.2.1', ipMode: 'Vip' }];
    expect(
      rules({ type: 'Headless', sessionAffinity: 'Cookie' }, { status: { loadBalancer: { ingress } } }),
    ).toEqual([
      'spec.type "Headless" is not one of ClusterIP, NodePort, LoadBalancer, ExternalName',
      'spec.sessionAffinity "Cookie" is not one of None, ClientIP',
      'status.loadBalancer.ingress[0].ipMode "Vip" is not one of VIP, Proxy',
    ]);
  });
});

describe('an EndpointSlice', () => {
  it.each([
    [{}, []],
    [{ addressType: 'FQDN', endpoints: [{ addresses: ['a.example'] }] }, []],
    [{ addressType: 'IPv9' }, ['addressType "IPv9" is not one of IPv4, IPv6, FQDN']],
    [{ addressType: undefined }, ['addressType is missing']],
  ])('%j: %j', (fields, problems) => {
    expect(endpointSliceRules(rawSlice(fields))).toEqual(problems);
  });

  it.each([
    ['0.0.0.0', 'the unspecified'],
    ['127.0.0.53', 'a loopback'],
    ['169.254.169.254', 'a link-local'],
    ['224.0.0.1', 'a link-local multicast'],
    ['::', 'the unspecified'],
    ['::1', 'a loopback'],
    ['FE80::1', 'a link-local'],
    ['febf::1', 'a link-local'],
    ['ff02::1', 'a link-local multicast'],
    ['ff12::1', 'a link-local multicast'],
  ])('may not lead to %s', (address, what) => {
    const endpoints = [{ addresses: ['10.244.1.5'] }, { addresses: [address] }];
    expect(endpointSliceRules(rawSlice({ endpoints }))).toEqual([
      `endpoints[1].addresses[0] "${address}" is ${what} address`,
    ]);
  });

  it.each([
    '10.0.0.0',
    '128.0.0.1',
    '169.253.0.1',
    '224.0.1.1',
    '239.1.1.1',
    '::2',
    'fec0::1',
    'fe::1',
    'ff05::2',
    'ff2::1',
  ])('may lead to %s', (address) => {
    expect(endpointSliceRules(rawSlice({ endpoints: [{ addresses: [address] }] }))).toEqual([]);
  });
});

it('Endpoints may not lead to such addresses either', () => {
  const subsets = [
    { addresses: [{ ip: '10.0.0.1' }, { ip: '127.0.0.1' }], notReadyAddresses: [{ ip: '::1' }] },
  ];
  expect(endpointsRules({ metadata: {}, subsets }).map(fieldOf)).toEqual([
    'subsets[0].addresses[1].ip',
    'subsets[0].notReadyAddresses[0].ip',
  ]);
});

it('labels and annotations are texts', () => {
  expect(metadataRules({ labels: { a: 'b' }, annotations: null })).toEqual([]);
  expect(metadataRules({ labels: { version: 1, a: 'b' }, annotations: ['x'] })).toEqual([
    'metadata.labels must hold strings: "version" is 1',
    'metadata.annotations must be an object',
  ]);
});
