import { readEndpoints, readEndpointSlice } from '../../../src/domain/decode/read-endpoint-slice.js';
import { readService, tooManyFrontends } from '../../../src/domain/decode/read-service.js';
import { rawService, rawSlice } from '../../support/objects.js';

const ofService = (spec: object, rest: object = {}) => readService(rawService(spec, rest));
const ofSlice = (rest: object) => readEndpointSlice(rawSlice(rest), 'n1');
const ofEndpoints = (subset: unknown) =>
  readEndpoints({ metadata: { namespace: 'shop', name: 'cart' }, subsets: [subset] }, 'n1');
const port = (parts: object) => ({ ports: [{ port: 80, ...parts }] });
const at = (parts: object) => ({ endpoints: [{ addresses: ['10.1.1.1'], ...parts }] });
const clientIP = (timeoutSeconds: unknown) => ({
  sessionAffinity: 'ClientIP',
  sessionAffinityConfig: { clientIP: { timeoutSeconds } },
});
const ingress = (...members: readonly unknown[]) => ({ status: { loadBalancer: { ingress: members } } });

it.each<[string, object, object?]>([
  ['spec.type must be a string, not 5', { type: 5 }],
  ['spec.externalIPs must be a list', { externalIPs: 'x' }],
  ['spec.externalTrafficPolicy must be a string, not 5', { externalTrafficPolicy: 5 }],
  ['spec.internalTrafficPolicy must be a string, not 5', { internalTrafficPolicy: 5 }],
  ['spec.clusterIP "x" is not an IP address', { clusterIP: 'x' }],
  ['spec.ipFamilies must be a list', { ipFamilies: 'IPv4' }],
  ['spec.clusterIPs must be a list', { ipFamilies: ['IPv4'], clusterIPs: 'x' }],
  ['spec.clusterIPs[0] "x" is not an IP address', { ipFamilies: ['IPv4'], clusterIPs: ['x'] }],
  [
    'spec.clusterIPs[1] "10.96.0.1" is not of the family "IPv6" in spec.ipFamilies',
    { ipFamilies: ['IPv4', 'IPv6'], clusterIPs: ['10.96.0.1', '10.96.0.1'] },
  ],
  ['spec.ports must be a list', { ports: 'x' }],
  ['spec.ports[0] must be an object', { ports: ['x'] }],
  ['spec.ports[0].name must be a string, not 5', port({ name: 5 })],
  ['spec.ports[0].name "A" is not a DNS label', port({ name: 'A' })],
  ['spec.ports[0].protocol "tcp" is not TCP, UDP or SCTP', port({ protocol: 'tcp' })],
  ['spec.ports[0].port 0 is not a whole number from 1 to 65535', port({ port: 0 })],
  ['spec.ports[0].port 65536 is not a whole number from 1 to 65535', port({ port: 65536 })],
  ['spec.ports[0].nodePort -1 is not a whole number from 0 to 65535', port({ nodePort: -1 })],
  ['spec.ports[0].nodePort 65536 is not a whole number from 0 to 65535', port({ nodePort: 65536 })],
  [
    'spec.ports[2] repeats the name and protocol of spec.ports[0]',
    { ports: [{ port: 1 }, { port: 1, protocol: 'UDP' }, { port: 2 }] },
  ],
  ['spec.sessionAffinity must be a string, not 5', { sessionAffinity: 5 }],
  [
    'spec.sessionAffinityConfig must be an object',
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: 'x' },
  ],
  [
    'spec.sessionAffinityConfig.clientIP must be an object',
    { sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: 'x' } },
  ],
  ['spec.sessionAffinityConfig.clientIP.timeoutSeconds 0 is not a whole number from 1 to 86400', clientIP(0)],
  [
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds 86401 is not a whole number from 1 to 86400',
    clientIP(86401),
  ],
  ['spec.loadBalancerSourceRanges[1] "x" is not a CIDR', { loadBalancerSourceRanges: ['10.0.0.0/8', 'x'] }],
  [
    'spec.healthCheckNodePort 65536 is not a whole number from 0 to 65535',
    { type: 'LoadBalancer', externalTrafficPolicy: 'Local', healthCheckNodePort: 65536 },
  ],
  ['status must be an object', {}, { status: 'x' }],
  ['status.loadBalancer must be an object', {}, { status: { loadBalancer: 'x' } }],
  ['status.loadBalancer.ingress must be a list', {}, { status: { loadBalancer: { ingress: 'x' } } }],
  ['status.loadBalancer.ingress[0] must be an object', {}, ingress('x')],
  ['metadata must be an object', {}, { metadata: 'x' }],
  ['metadata.namespace undefined is not a DNS label', {}, { metadata: { name: 'cart' } }],
  ['metadata.name "A" is not a DNS label', {}, { metadata: { namespace: 'shop', name: 'A' } }],
])('a Service is ignored: %s', (problem, spec, rest) => {
  expect(ofService(spec, rest)).toEqual({ problems: [problem] });
});

it('objects that are none are ignored', () => {
  expect(readService('x').problems).toEqual(['Service must be an object']);
  expect(readService({ metadata: { namespace: 'a', name: 'b' }, spec: 5 }).problems).toEqual([
    'spec must be an object',
  ]);
  expect(readEndpointSlice([], 'n1').problems).toEqual(['EndpointSlice must be an object']);
  expect(readEndpoints(5, 'n1').problems).toEqual(['Endpoints must be an object']);
});

it('a Service is used without addresses that it cannot have', () => {
  const externalIPs = ['', ' 192.0.2.1 ', 'x', '127.0.0.1'];
  const statuses = [
    { ip: '203.0.113.1' },
    { ip: '203.0.113.2', ipMode: 'VIP' },
    { ip: '203.0.113.3', ipMode: null },
    { ip: '203.0.113.4', ipMode: 'Proxy' },
    { hostname: 'x' },
    { ip: 'x' },
  ];
  const { value, problems } = ofService({ externalIPs }, ingress(...statuses));
  expect(problems).toEqual([
    'spec.externalIPs[2] "x" is not an IP address; ignored',
    'spec.externalIPs[3] "127.0.0.1" is loopback; ignored',
    'status.loadBalancer.ingress[5].ip "x" is not an IP address; ignored',
  ]);
  expect(value!.externalIPs.map(({ text }) => text)).toEqual(['192.0.2.1']);
  expect(value!.loadBalancerIPs.map(({ text }) => text)).toEqual([
    '203.0.113.1',
    '203.0.113.2',
    '203.0.113.3',
  ]);
});

it('a Service is used as it is at the limits of its numbers', () => {
  const { value, problems } = ofService({
    ...clientIP(86400),
    ports: [
      { port: 65535, nodePort: 65535, name: 'a' },
      { port: 1, nodePort: 0, name: 'b' },
    ],
  });
  expect([problems, value!.affinitySeconds]).toEqual([[], 86400]);
  expect(value!.ports.map(({ port: number, nodePort }) => [number, nodePort])).toEqual([
    [65535, 65535],
    [1, 0],
  ]);
  expect(ofService(clientIP(1)).value!.affinitySeconds).toBe(1);
  expect(ofService(clientIP(undefined)).value!.affinitySeconds).toBe(10800);
});

it.each([
  ['http', 'http'],
  [{ strVal: 'http' }, 'http'],
  [{ intVal: 8080 }, undefined],
  [8080, undefined],
  [null, undefined],
  ['', undefined],
])('the target port %j of a Service has the name %s', (targetPort, name) => {
  expect(ofService(port({ targetPort })).value!.ports[0]!.targetName).toBe(name);
});

it.each<[string, object]>([
  ['ports[0] must be an object', { ports: ['x'] }],
  ['ports[0].name "A" is not a DNS label', { ports: [{ name: 'A', port: 1 }] }],
  ['ports[0].port 65536 is not a whole number from 1 to 65535', { ports: [{ name: '', port: 65536 }] }],
  ['ports[0].protocol "x" is not TCP, UDP or SCTP', { ports: [{ name: '', port: 1, protocol: 'x' }] }],
  ['endpoints[0] must be an object', { endpoints: ['x'] }],
  ['endpoints[0].addresses must be a list', at({ addresses: 'x' })],
  ['endpoints[0].addresses[1] "fd00::1" is not an IPv4 address', at({ addresses: ['10.1.1.1', 'fd00::1'] })],
  ['endpoints[0].conditions must be an object', at({ conditions: 'x' })],
  ['endpoints[0].conditions.ready "x" is neither true nor false', at({ conditions: { ready: 'x' } })],
  ['endpoints[0].conditions.serving "x" is neither true nor false', at({ conditions: { serving: 'x' } })],
  [
    'endpoints[0].conditions.terminating "x" is neither true nor false',
    at({ conditions: { terminating: 'x' } }),
  ],
  ['endpoints[0].hints must be an object', at({ hints: 'x' })],
  ['endpoints[0].hints.forZones must be a list', at({ hints: { forZones: 'x' } })],
  ['endpoints[0].hints.forZones[0] must be an object', at({ hints: { forZones: ['a'] } })],
  ['endpoints[0].hints.forNodes[0].name must be a string, not 5', at({ hints: { forNodes: [{ name: 5 }] } })],
  ['endpoints[0].zone must be a string, not 5', at({ zone: 5 })],
  ['endpoints[0].nodeName must be a string, not 5', at({ nodeName: 5 })],
  ['endpoints[0].targetRef must be an object', at({ targetRef: 'x' })],
  ['endpoints[0].targetRef.name must be a string, not 5', at({ targetRef: { kind: 'Pod', name: 5 } })],
])('an EndpointSlice is ignored: %s', (problem, rest) => {
  expect(ofSlice(rest)).toEqual({ problems: [problem] });
});

it.each<[string, unknown]>([
  ['subsets[0] must be an object', 'x'],
  ['subsets[0].ports must be a list', { ports: 'x' }],
  ['subsets[0].ports[0] must be an object', { ports: ['x'] }],
  ['subsets[0].ports[0].name must be a string, not 5', { ports: [{ name: 5, port: 1 }] }],
  ['subsets[0].ports[0].port undefined is not a whole number from 1 to 65535', { ports: [{}] }],
  ['subsets[0].addresses must be a list', { addresses: 'x' }],
  ['subsets[0].addresses[0] must be an object', { addresses: ['x'] }],
  ['subsets[0].addresses[0].ip "x" is not an IP address', { addresses: [{ ip: 'x' }] }],
  [
    'subsets[0].notReadyAddresses[1].ip 5 is not an IP address',
    { notReadyAddresses: [{ ip: '10.1.1.1' }, { ip: 5 }] },
  ],
  [
    'subsets[0].addresses[0].nodeName must be a string, not 5',
    { addresses: [{ ip: '10.1.1.1', nodeName: 5 }] },
  ],
])('Endpoints are ignored: %s', (problem, subset) => {
  expect(ofEndpoints(subset)).toEqual({ problems: [problem] });
});

it('Endpoints are used without addresses that no endpoint may have', () => {
  const addresses = [{ ip: '10.1.1.1' }, { ip: '127.0.0.1' }];
  const { value, problems } = ofEndpoints({
    addresses,
    notReadyAddresses: [{ ip: '::1' }],
    ports: [{ port: 1 }],
  });
  expect(problems).toEqual([
    'subsets[0].addresses[1].ip "127.0.0.1" is loopback; ignored',
    'subsets[0].notReadyAddresses[0].ip "::1" is loopback; ignored',
  ]);
  expect(value!.map(({ name, ports }) => [name, ports[0]!.endpoints.map(({ address }) => address)])).toEqual([
    ['endpoints:cart/0/IPv4', ['10.1.1.1']],
  ]);
});

it('a Service may have so many frontends and source ranges, and no more', () => {
  const ports = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ name: `p${index}`, port: index + 1 }));
  const problemOf = (spec: object, limit: number, ...members: readonly object[]) =>
    tooManyFrontends(ofService(spec, ingress(...members)).value!, limit);
  const twice = { externalIPs: ['192.0.2.1', '192.0.2.1'] };
  expect(problemOf({ ports: ports(5) }, 5)).toBeUndefined();
  expect(problemOf({ ports: ports(5) }, 4)).toBe(
    'spec.ports has 5 ports on 1 address: 5 frontends, more than --service-frontends-limit=4',
  );
  expect(problemOf({ ports: ports(5), ...twice }, 10)).toBeUndefined();
  expect(problemOf({ ports: [{ port: 1, nodePort: 30000 }], ...twice }, 2)).toBe(
    'spec.ports has 1 ports on 2 addresses, 1 with a node port: 3 frontends, more than --service-frontends-limit=2',
  );
  expect(problemOf({ ports: ports(5) }, 0)).toBeUndefined();
  const loadBalancerSourceRanges = Array.from({ length: 256 }, (_, index) => `10.${index}.0.0/16`);
  const sources = (count: number) =>
    problemOf({ ports: ports(count), loadBalancerSourceRanges }, 1_000, { ip: '203.0.113.1' });
  expect(sources(256)).toBeUndefined();
  expect(sources(257)).toBe(
    'spec.loadBalancerSourceRanges has 256 ranges for 257 ports on 1 load-balancer IPs: 65792 in all, more than 65536',
  );
});

it('the selector of a Service is shown sorted, and cut off where it is very long', () => {
  const shown = (selector: unknown) => ofService({ selector }).value!.selector;
  expect(shown({ b: 'c', a: 1 })).toBe('a=1,b=c');
  expect([shown({}), shown('x'), shown(undefined)]).toEqual([undefined, undefined, undefined]);
  const long = shown({ a: 'x'.repeat(1_020), b: 'c' });
  expect(long).toBe(`a=${'x'.repeat(1_020)},b`);
});
