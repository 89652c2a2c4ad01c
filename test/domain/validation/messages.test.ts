import type { RawObject } from '../../../src/domain/decode/fields.js';
import {
  endpointSliceWithDefaults,
  nodeWithDefaults,
  serviceWithDefaults,
} from '../../../src/domain/validation/defaults.js';
import {
  endpointSliceSchema,
  endpointsSchema,
  nodeSchema,
  serviceCidrSchema,
} from '../../../src/domain/validation/object-schemas.js';
import type { Schema } from '../../../src/domain/validation/schema.js';
import { serviceSchema } from '../../../src/domain/validation/service-schema.js';

/** All that `kubeproxy validate` prints of an object, besides its place. */
function problems(schema: Schema, object: RawObject): readonly string[] {
  const found: string[] = [];
  schema(object, '', (field, what) => found.push(`${field} ${what}`));
  return found;
}

const ofService = (spec: object, metadata: object = {}): readonly string[] =>
  problems(serviceSchema, serviceWithDefaults({ metadata: { name: 'web', ...metadata }, spec }));
const ofSlice = (rest: object): readonly string[] =>
  problems(
    endpointSliceSchema,
    endpointSliceWithDefaults({ metadata: { name: 'web-1' }, addressType: 'IPv4', ...rest }),
  );
const ofEndpoints = (subset: object): readonly string[] =>
  problems(endpointsSchema, { metadata: { name: 'web' }, subsets: [subset] });
const ofNode = (spec: object): readonly string[] =>
  problems(nodeSchema, nodeWithDefaults({ metadata: { name: 'n1' }, spec }));
const ofCidr = (spec?: object): readonly string[] =>
  problems(serviceCidrSchema, { metadata: { name: 'c' }, ...(spec && { spec }) });

const ports = [{ port: 80 }];
const balanced = { ports, type: 'LoadBalancer' };
const dual = { ports, ipFamilyPolicy: 'PreferDualStack' };
const annotated = (annotations: object) => ({ annotations });
const RANGES = 'service.beta.kubernetes.io/load-balancer-source-ranges';
const MODE = 'service.kubernetes.io/topology-mode';
const HINTS = 'service.kubernetes.io/topology-aware-hints';
const external = (rest: object) => ({ type: 'ExternalName', externalName: 'a.b', ...rest });

it.each<[string, object, object?]>([
  ['spec.ports is missing', {}],
  ['spec.ports[0].port is missing', { ports: [{}] }],
  ['spec.ports[0].port 0 is not a whole number from 1 to 65535', { ports: [{ port: 0 }] }],
  ['spec.ports[0].port 65536 is not a whole number from 1 to 65535', { ports: [{ port: 65536 }] }],
  ['spec.ports[0].port "80" is not a whole number from 1 to 65535', { ports: [{ port: '80' }] }],
  [
    'spec.ports[0].targetPort 65536 is not a whole number from 0 to 65535',
    { ports: [{ port: 1, targetPort: 65536 }] },
  ],
  [
    'spec.ports[0].targetPort -1 is not a whole number from 0 to 65535',
    { ports: [{ port: 1, targetPort: -1 }] },
  ],
  ['spec.ports[0].protocol "tcp" is not one of TCP, UDP, SCTP', { ports: [{ port: 1, protocol: 'tcp' }] }],
  ['spec.ports[0].name "A" is not a DNS label', { ports: [{ port: 1, name: 'A' }] }],
  ['spec.ports[0].name 5 is not a text', { ports: [{ port: 1, name: 5 }] }],
  [
    'spec.ports[0].containerport is not a field that Kubernetes knows',
    { ports: [{ port: 1, containerport: 2 }] },
  ],
  [
    'spec.ports[0].targetport is not a field that Kubernetes knows; did you mean targetPort?',
    { ports: [{ port: 1, targetport: 2 }] },
  ],
  [
    'spec.ports[1].name is missing; with several ports each needs one',
    { ports: [{ port: 1, name: 'a' }, { port: 2 }] },
  ],
  [
    'spec.ports[1].name repeats the name of spec.ports[0]',
    {
      ports: [
        { port: 1, name: 'a' },
        { port: 2, name: 'a' },
      ],
    },
  ],
  [
    'spec.ports[2] repeats the port and protocol of spec.ports[1]',
    {
      ports: [
        { port: 1, name: 'a' },
        { port: 2, name: 'b' },
        { port: 2, name: 'c' },
      ],
    },
  ],
  [
    'spec.ports[1].nodePort repeats the node port of spec.ports[0]',
    {
      type: 'NodePort',
      ports: [
        { port: 1, name: 'a', nodePort: 30000 },
        { port: 2, name: 'b', nodePort: 30000 },
      ],
    },
  ],
  ['spec.ports[0].nodePort does not go with the type ClusterIP', { ports: [{ port: 1, nodePort: 30000 }] }],
  [
    'spec.clusterIP "None" does not go with the type NodePort',
    { ports, type: 'NodePort', clusterIP: 'None' },
  ],
  ['spec.clusterIP "x" is not an IP address', { ports, clusterIP: 'x' }],
  [
    'spec.clusterIPs is given without clusterIP, which must be its first',
    { ports, clusterIPs: ['10.96.5.5'] },
  ],
  [
    'spec.clusterIPs[0] "10.96.4.5" is not the clusterIP "10.96.4.4"',
    { ports, clusterIP: '10.96.4.4', clusterIPs: ['10.96.4.5'] },
  ],
  ['spec.clusterIPs has more than "None"', { ...dual, clusterIP: 'None', clusterIPs: ['None', '10.96.4.4'] }],
  [
    'spec.clusterIPs[1] "x" is not an IP address',
    { ...dual, clusterIP: '10.96.4.4', clusterIPs: ['10.96.4.4', 'x'] },
  ],
  [
    'spec.clusterIPs[1] "10.96.4.5" is of the same family as spec.clusterIPs[0]',
    { ...dual, clusterIP: '10.96.4.4', clusterIPs: ['10.96.4.4', '10.96.4.5'] },
  ],
  [
    'spec.ipFamilies[1] "IPv4" is of the same family as spec.ipFamilies[0]',
    { ...dual, ipFamilies: ['IPv4', 'IPv4'] },
  ],
  [
    'spec.clusterIP "10.96.4.4" is not of the family "IPv6" in spec.ipFamilies',
    { ports, clusterIP: '10.96.4.4', ipFamilies: ['IPv6'] },
  ],
  [
    'spec.ipFamilyPolicy must be PreferDualStack or RequireDualStack for two families',
    { ports, ipFamilies: ['IPv4', 'IPv6'] },
  ],
  [
    'spec.ipFamilyPolicy must be PreferDualStack or RequireDualStack for two families',
    { ports, clusterIP: '10.96.4.4', clusterIPs: ['10.96.4.4', 'fd00::1'], ipFamilyPolicy: 'SingleStack' },
  ],
  [
    'spec.ipFamilyPolicy "Dual" is not one of SingleStack, PreferDualStack, RequireDualStack',
    { ports, ipFamilyPolicy: 'Dual' },
  ],
  ['spec.externalIPs[0] "127.0.0.1" is a loopback address', { ports, externalIPs: ['127.0.0.1'] }],
  ['spec.externalIPs "x" is not a list', { ports, externalIPs: 'x' }],
  [
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds 86401 is not a whole number from 1 to 86400',
    { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
  ],
  [
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds 2147483648 is not a whole number from -2147483648 to 2147483647',
    { ports, sessionAffinityConfig: { clientIP: { timeoutSeconds: 2 ** 31 } } },
  ],
  [
    'spec.sessionAffinityConfig.clientIP.timeoutSeconds -2147483649 is not a whole number from -2147483648 to 2147483647',
    { ports, sessionAffinityConfig: { clientIP: { timeoutSeconds: -(2 ** 31) - 1 } } },
  ],
  ['spec.sessionAffinityConfig "x" is not an object', { ports, sessionAffinityConfig: 'x' }],
  ['spec.sessionAffinity "Cookie" is not one of None, ClientIP', { ports, sessionAffinity: 'Cookie' }],
  ...['clusterIP', 'clusterIPs', 'ipFamilies', 'ipFamilyPolicy'].map((name): [string, object] => [
    `spec.${name} does not go with the type ExternalName`,
    external({
      [name]: {
        clusterIP: 'None',
        clusterIPs: ['None'],
        ipFamilies: ['IPv4'],
        ipFamilyPolicy: 'SingleStack',
      }[name],
    }),
  ]),
  ['spec.externalName is missing', { type: 'ExternalName' }],
  ['spec.externalName "a_b" is not a DNS subdomain', external({ externalName: 'a_b' })],
  [
    'spec.loadBalancerSourceRanges goes with the type LoadBalancer only',
    { ports, loadBalancerSourceRanges: ['10.0.0.0/8'] },
  ],
  [
    'spec.allocateLoadBalancerNodePorts goes with the type LoadBalancer only',
    { ports, allocateLoadBalancerNodePorts: false },
  ],
  ['spec.loadBalancerClass goes with the type LoadBalancer only', { ports, loadBalancerClass: 'a.b/c' }],
  [
    'spec.loadBalancerSourceRanges[0] "10.0.0.1/8" is an address within 10.0.0.0/8; write that',
    { ...balanced, loadBalancerSourceRanges: ['10.0.0.1/8'] },
  ],
  [
    'spec.externalTrafficPolicy goes with node ports, load balancers and external IPs only',
    { ports, externalTrafficPolicy: 'Local' },
  ],
  [
    'spec.externalTrafficPolicy goes with node ports, load balancers and external IPs only',
    external({ externalTrafficPolicy: 'Local', externalIPs: ['192.0.2.1'] }),
  ],
  [
    'spec.healthCheckNodePort goes with the type LoadBalancer and externalTrafficPolicy Local only',
    { ...balanced, healthCheckNodePort: 32000 },
  ],
  [
    'spec.healthCheckNodePort goes with the type LoadBalancer and externalTrafficPolicy Local only',
    { type: 'NodePort', ports, externalTrafficPolicy: 'Local', healthCheckNodePort: 32000 },
  ],
  [
    'spec.publishNotReadyAddresses "yes" is neither true nor false',
    { ports, publishNotReadyAddresses: 'yes' },
  ],
  ['spec.selector.a 1 is not a text; put it in quotes', { ports, selector: { a: 1 } }],
  [
    'spec.selector has the key "a b", which is not a qualified name such as name or example.com/name',
    { ports, selector: { 'a b': 'c' } },
  ],
  ['spec.selector "x" is not an object', { ports, selector: 'x' }],
  [`spec[a b] is not a field that Kubernetes knows`, { ports, 'a b': 1 }],
  [
    `metadata.annotations[${MODE}] "Auto" is not the "Disabled" of ${HINTS}`,
    { ports },
    annotated({ [MODE]: 'Auto', [HINTS]: 'Disabled' }),
  ],
  [
    `metadata.annotations[${RANGES}] goes with the type LoadBalancer only`,
    { ports },
    annotated({ [RANGES]: ' ' }),
  ],
  [`metadata.annotations[${RANGES}] "x" is not a CIDR`, balanced, annotated({ [RANGES]: '10.0.0.0/8, x ' })],
  ['metadata.finalizers[0] "x" has no prefix such as example.com/', { ports }, { finalizers: ['x'] }],
  [
    'metadata.annotations have 262145 bytes; at most 262144 are allowed',
    { ports },
    annotated({ a: 'x'.repeat(256 * 1024) }),
  ],
])('a Service: %s', (problem, spec, metadata) => {
  expect(ofService(spec, metadata)).toEqual([problem]);
});

it.each<[string, object, object?]>([
  ['the same of both annotations', { ports }, annotated({ [MODE]: 'Auto', [HINTS]: 'Auto' })],
  ['the one annotation', { ports }, annotated({ [MODE]: 'Auto' })],
  ['the other annotation', { ports }, annotated({ [HINTS]: 'Auto' })],
  ['no range in an annotation', balanced, annotated({ [RANGES]: ' ' })],
  ['as many bytes of annotations as there may be', { ports }, annotated({ a: 'x'.repeat(256 * 1024 - 1) })],
  ['finalizers of Kubernetes', { ports }, { finalizers: ['orphan', 'foregroundDeletion', 'kubernetes'] }],
  ['a generated name', { ports }, { generateName: 'web-' }],
  ['an ExternalName with a port and a node port', external({ ports: [{ port: 1, nodePort: 30000 }] })],
  [
    'no protocol twice',
    {
      ports: [
        { port: 53, name: 'a' },
        { port: 53, name: 'b', protocol: 'UDP' },
      ],
    },
  ],
  [
    'node port 0 twice',
    {
      type: 'NodePort',
      ports: [
        { port: 1, name: 'a', nodePort: 0 },
        { port: 2, name: 'b', nodePort: 0 },
      ],
    },
  ],
  [
    'a node port of two protocols',
    {
      type: 'NodePort',
      ports: [
        { port: 1, name: 'a', nodePort: 30000 },
        { port: 1, name: 'b', nodePort: 30000, protocol: 'UDP' },
      ],
    },
  ],
  [
    'the greatest affinity that is not in force',
    { ports, sessionAffinityConfig: { clientIP: { timeoutSeconds: 2 ** 31 - 1 } } },
  ],
  [
    'the least affinity that is not in force',
    { ports, sessionAffinityConfig: { clientIP: { timeoutSeconds: -(2 ** 31) } } },
  ],
  ['no health-check port', { ports, healthCheckNodePort: 0 }],
])('a Service may have %s', (_, spec, metadata) => {
  expect(ofService(spec, metadata)).toEqual([]);
});

const at = (rest: object) => ({ endpoints: [{ addresses: ['10.0.0.1'], ...rest }] });
const named = (count: number) => Array.from({ length: count }, (_, index) => ({ name: `n${index}` }));
const addresses = (count: number) => Array.from({ length: count }, (_, index) => `10.0.1.${index + 1}`);

it.each<[string, object]>([
  ['addressType is missing', { addressType: undefined }],
  ['addressType "ipv4" is not one of IPv4, IPv6, FQDN', { addressType: 'ipv4' }],
  ['endpoints[0].addresses has no address', { endpoints: [{}] }],
  ['endpoints[0].addresses has 101 members; at most 100 are allowed', at({ addresses: addresses(101) })],
  ['endpoints[0].addresses[1] "" is not an IP address', at({ addresses: ['10.0.0.1', ''] })],
  ['endpoints[0].addresses[0] "fd00::1" is not an IPv4 address', at({ addresses: ['fd00::1'] })],
  [
    'endpoints[0].addresses[0] "a" is not a full domain name',
    { addressType: 'FQDN', ...at({ addresses: ['a'] }) },
  ],
  ['endpoints[0].addresses[0] 5 is not a text', at({ addresses: [5] })],
  ['endpoints[0].conditions.serving 1 is neither true nor false', at({ conditions: { serving: 1 } })],
  ['endpoints[0].conditions.terminating 1 is neither true nor false', at({ conditions: { terminating: 1 } })],
  ['endpoints[0].hints.forZones has 9 members; at most 8 are allowed', at({ hints: { forZones: named(9) } })],
  ['endpoints[0].hints.forNodes has 9 members; at most 8 are allowed', at({ hints: { forNodes: named(9) } })],
  ['endpoints[0].hints.forNodes[0].name is missing', at({ hints: { forNodes: [{}] } })],
  [
    'endpoints[0].hints.forZones[1].name repeats the name of endpoints[0].hints.forZones[0]',
    at({ hints: { forZones: [{}, { name: '' }] } }),
  ],
  ['ports[0].protocol "" is not one of TCP, UDP, SCTP', { ports: [{ protocol: '' }] }],
  ['ports[1].name repeats the name of ports[0]', { ports: [{ port: 1 }, { port: 2, name: '' }] }],
  [
    'ports[0].port 2147483648 is not a whole number from -2147483648 to 2147483647',
    { ports: [{ port: 2 ** 31 }] },
  ],
  ['ports has 20001 members; at most 20000 are allowed', { ports: named(20_001) }],
  [
    'endpoints has 1001 members; at most 1000 are allowed',
    { endpoints: Array.from({ length: 1001 }, () => ({ addresses: ['10.0.0.1'] })) },
  ],
  ...['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'].map(
    (name): [string, object] => [
      `endpoints[0].targetRef.${name} 5 is not a text`,
      at({ targetRef: { [name]: 5 } }),
    ],
  ),
])('an EndpointSlice: %s', (problem, rest) => {
  expect(ofSlice(rest)).toEqual([problem]);
});

it('an EndpointSlice may have as much as the limits allow', () => {
  expect(
    ofSlice({
      ports: named(20_000),
      endpoints: Array.from({ length: 1000 }, () => ({ addresses: addresses(100) })),
    }),
  ).toEqual([]);
  expect(ofSlice(at({ hints: { forZones: named(8), forNodes: named(8) }, deprecatedTopology: 5 }))).toEqual(
    [],
  );
});

const subset = { addresses: [{ ip: '10.0.0.1' }] };

it.each<[string, object]>([
  ['subsets[0] has neither addresses nor notReadyAddresses', { ports }],
  ['subsets[0].addresses[0].ip is missing', { addresses: [{}] }],
  ['subsets[0].notReadyAddresses[0].ip "::1" is a loopback address', { notReadyAddresses: [{ ip: '::1' }] }],
  ['subsets[0].ports[0].port is missing', { ...subset, ports: [{}] }],
  [
    'subsets[0].ports[0].port 65536 is not a whole number from 1 to 65535',
    { ...subset, ports: [{ port: 65536 }] },
  ],
  ['subsets[0].ports[0].port 0 is not a whole number from 1 to 65535', { ...subset, ports: [{ port: 0 }] }],
  [
    'subsets[0].ports[1].name is missing; with several ports each needs one',
    { ...subset, ports: [{ port: 1, name: 'a' }, { port: 2 }] },
  ],
  [
    'subsets[0].ports[0].protocol "x" is not one of TCP, UDP, SCTP',
    { ...subset, ports: [{ port: 1, protocol: 'x' }] },
  ],
])('Endpoints: %s', (problem, rest) => {
  expect(ofEndpoints(rest)).toEqual([problem]);
});

it('Endpoints may have addresses of either kind', () => {
  expect(ofEndpoints(subset)).toEqual([]);
  expect(ofEndpoints({ notReadyAddresses: subset.addresses, ports: [{ port: 65535 }] })).toEqual([]);
});

it.each<[string, object?]>([
  ['spec.cidrs is missing'],
  ['spec.cidrs is missing', { cidrs: [] }],
  ['spec.cidrs[0] "FD00::/112" is not in canonical form; write fd00::/112', { cidrs: ['FD00::/112'] }],
  [
    'spec.cidrs[1] "10.2.0.0/16" is of the same family as spec.cidrs[0]',
    { cidrs: ['10.1.0.0/16', '10.2.0.0/16'] },
  ],
])('a ServiceCIDR: %s', (problem, spec) => {
  expect(ofCidr(spec)).toEqual([problem]);
});

it.each<[string, object]>([
  ['spec.podCIDRs[0] "x" is not a CIDR', { podCIDRs: ['x'] }],
  [
    'spec.podCIDRs[1] "10.2.0.0/24" is of the same family as spec.podCIDRs[0]',
    { podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'] },
  ],
  [
    'spec.taints[0].effect "No" is not one of NoSchedule, PreferNoSchedule, NoExecute',
    { taints: [{ key: 'a', effect: 'No' }] },
  ],
  ['spec.taints[0].effect is missing', { taints: [{ key: 'a' }] }],
  ['spec.taints[0].key is missing', { taints: [{ effect: 'NoExecute' }] }],
  ['spec.providerID 5 is not a text', { providerID: 5 }],
  ['spec.externalID 5 is not a text', { externalID: 5 }],
  ['spec.unschedulable "yes" is neither true nor false', { unschedulable: 'yes' }],
])('a Node: %s', (problem, spec) => {
  expect(ofNode(spec)).toEqual([problem]);
});

it('a Node may have fields that the proxy does not read', () => {
  const taints = [{ key: 'a', effect: 'NoExecute', value: 'b', timeAdded: 'x' }];
  expect(ofNode({ configSource: 5, externalID: 'x', providerID: 'y', taints })).toEqual([]);
});
