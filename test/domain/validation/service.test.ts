import type { RawObject } from '../../../src/domain/decode/fields.js';
import { serviceWithDefaults } from '../../../src/domain/validation/defaults.js';
import { serviceSchema } from '../../../src/domain/validation/service-schema.js';

/** The fields with problems. What the API server said of each case is what it said when it was asked (1.36, dry run). */
function fields(...service: Parameters<typeof problems>): readonly string[] {
  return problems(...service).map((problem) => problem.split(' ')[0]!);
}

function problems(spec: unknown, metadata: object = {}, status?: object): readonly string[] {
  const found: string[] = [];
  const service = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'web', ...metadata }, spec };
  const object: RawObject = serviceWithDefaults(status ? { ...service, status } : service);
  serviceSchema(object, '', (field, what) => found.push(`${field} ${what}`));
  return found;
}
const ports = [{ port: 80 }];
const balanced = { type: 'LoadBalancer', ports };
const dual = { ports, ipFamilyPolicy: 'PreferDualStack' };

describe('what an API server accepts', () => {
  it.each<[string, unknown, object?]>([
    ['one port', { ports }],
    ['the last port', { ports: [{ port: 65535, targetPort: 65535 }] }],
    [
      'any annotation of source ranges beside the field',
      { ...balanced, loadBalancerSourceRanges: ['10.0.0.0/8'] },
      { annotations: { 'service.beta.kubernetes.io/load-balancer-source-ranges': 'x' } },
    ],
    ['node port 0, which is none', { ports: [{ port: 1, nodePort: 0 }] }],
    [
      'the shortest affinity',
      { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 1 } } },
    ],
    [
      'the longest affinity',
      { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86400 } } },
    ],
    [
      'ports that differ',
      {
        ports: [
          { port: 1, name: 'a' },
          { port: 1, name: 'b', protocol: 'UDP' },
        ],
      },
    ],
    ['a port to a name', { ports: [{ port: 1, targetPort: 'http-1', appProtocol: 'kubernetes.io/h2c' }] }],
    [
      'no port number, where 0 and "" are none',
      { ports: [{ port: 1, targetPort: 0, name: '', protocol: '' }] },
    ],
    ['no ports of a headless Service', { clusterIP: 'None' }],
    [
      'both families of a headless Service without selector',
      { clusterIP: 'None', ipFamilies: ['IPv4', 'IPv6'] },
    ],
    ['an address that is not canonical', { ports, clusterIP: 'FD00:10:96::99', externalIPs: ['FE00::1'] }],
    ['no clusterIPs', { ports, clusterIP: '10.96.4.4', clusterIPs: [], ipFamilies: ['IPv4'] }],
    ['two families', { ...dual, clusterIP: '10.96.4.4', clusterIPs: ['10.96.4.4', 'fd00::1'] }],
    ['two families to choose from', { ...dual, ipFamilies: ['IPv6', 'IPv4'] }],
    [
      'an affinity that is not in force',
      { ports, sessionAffinity: 'None', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
    ],
    ['an affinity of default length', { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: {} }],
    ['ranges with blanks', { ...balanced, loadBalancerSourceRanges: [' 10.0.0.0/8 ', '2001:db8::/32'] }],
    [
      'all of a load balancer',
      {
        ...balanced,
        loadBalancerClass: 'a.b/c',
        allocateLoadBalancerNodePorts: false,
        externalTrafficPolicy: 'Local',
        healthCheckNodePort: 32000,
        loadBalancerIP: 'x',
      },
    ],
    ['a name elsewhere', { type: 'ExternalName', externalName: 'a.b.', internalTrafficPolicy: 'Cluster' }],
    ['an external name that is not in force', { ports, externalName: 'x y' }],
    ['empty selectors and values', { ports, selector: { a: null }, trafficDistribution: 'PreferClose' }],
    ['a policy for external IPs', { ports, externalIPs: ['192.0.2.1'], externalTrafficPolicy: 'Local' }],
    ['a name that begins with a digit', { ports }, { name: '1a' }],
    ['annotations with capitals', { ports }, { annotations: { 'A/B': 'x' } }],
    [
      'what kubectl get prints',
      { ports },
      {
        creationTimestamp: null,
        resourceVersion: '5',
        uid: 'u',
        generation: 1,
        selfLink: '/x',
        managedFields: [{}],
        finalizers: ['a/b'],
      },
    ],
  ])('%s', (...[, spec, metadata]) => {
    expect(fields(spec, metadata)).toEqual([]);
  });
});

describe('what an API server rejects', () => {
  it.each<[string, unknown, object?]>([
    ['spec.ports', undefined],
    ['spec.ports', null],
    ['spec.ports', {}],
    ['spec.ports', { ports: [] }],
    ['spec.ports', { ports: 'x' }],
    ['spec.ports[0].port', { ports: [null] }],
    ['spec.ports[0].port', { ports: [{}] }],
    ['spec.ports[0].port', { ports: [{ port: 0 }] }],
    ['spec.ports[0].port', { ports: [{ port: 70000 }] }],
    ['spec.ports[0].port', { ports: [{ port: '80' }] }],
    ['spec.ports[0].port', { ports: [{ port: 80.5 }] }],
    ['spec.ports[0].protocol', { ports: [{ port: 1, protocol: 'tcp' }] }],
    ['spec.ports[0].nodePort', { type: 'NodePort', ports: [{ port: 1, nodePort: 65536 }] }],
    ['spec.ports[0].nodePort', { ports: [{ port: 1, nodePort: 30000 }] }],
    ['spec.ports[0].nodePort', { ports: [{ port: 1, nodePort: 1 }] }],
    [
      'spec.ports[1].nodePort',
      {
        type: 'NodePort',
        ports: [
          { port: 1, name: 'a', nodePort: 30000 },
          { port: 2, name: 'b', nodePort: 30000 },
        ],
      },
    ],
    ['spec.ports[0].name', { ports: [{ port: 1, name: 'A' }] }],
    ['spec.ports[0].name', { ports: [{ port: 1, name: 'a'.repeat(64) }] }],
    [
      'spec.ports[1].name',
      {
        ports: [
          { port: 1, name: 'a' },
          { port: 2, name: 'a' },
        ],
      },
    ],
    ['spec.ports[1].name', { ports: [{ port: 1, name: 'a' }, { port: 2 }] }],
    [
      'spec.ports[1]',
      {
        ports: [
          { port: 1, name: 'a' },
          { port: 1, name: 'b' },
        ],
      },
    ],
    ['spec.ports[0].targetPort', { ports: [{ port: 1, targetPort: '80' }] }],
    ['spec.ports[0].targetPort', { ports: [{ port: 1, targetPort: 65536 }] }],
    ['spec.ports[0].targetPort', { ports: [{ port: 1, targetPort: 'a--b' }] }],
    ['spec.ports[0].targetPort', { ports: [{ port: 1, targetPort: 'HTTP' }] }],
    ['spec.ports[0].targetPort', { ports: [{ port: 1, targetPort: 'x'.repeat(16) }] }],
    ['spec.ports[0].targetPort', { ports: [{ port: 1, targetPort: true }] }],
    ['spec.ports[0].appProtocol', { ports: [{ port: 1, appProtocol: '' }] }],
    ['spec.ports[0].appProtocol', { ports: [{ port: 1, appProtocol: 'a/b/c' }] }],
    ['spec.ports[0].containerPort', { ports: [{ port: 1, containerPort: 2 }] }],
    ['spec.clusterip', { ports, clusterip: '10.96.0.1' }],
    ['spec.clusterIP', { ports, clusterIP: '10.96.0.010' }],
    ['spec.clusterIP', { ports, clusterIP: '10.96.4.4', ipFamilies: ['IPv6'] }],
    ['spec.clusterIP', { ports, type: 'NodePort', clusterIP: 'None' }],
    ['spec.clusterIP', { ports, type: 'LoadBalancer', clusterIP: 'None' }],
    ['spec.clusterIPs', { ports, clusterIP: 'None', clusterIPs: ['None', '10.96.4.4'] }],
    ['spec.clusterIPs', { ports, clusterIPs: ['10.96.5.5'] }],
    ['spec.clusterIPs', { ports, clusterIP: '10.96.4.4', clusterIPs: 'x' }],
    ['spec.clusterIPs[0]', { ports, clusterIP: '10.96.4.4', clusterIPs: ['10.96.4.5'] }],
    ['spec.clusterIPs[1]', { ...dual, clusterIP: '10.96.4.4', clusterIPs: ['10.96.4.4', '10.96.4.5'] }],
    ['spec.clusterIPs[1]', { ...dual, clusterIP: '10.96.4.4', clusterIPs: ['10.96.4.4', 'x'] }],
    ['spec.ipFamilyPolicy', { ports, clusterIP: '10.96.4.4', clusterIPs: ['10.96.4.4', 'fd00::1'] }],
    ['spec.ipFamilyPolicy', { ports, ipFamilies: ['IPv4', 'IPv6'] }],
    ['spec.ipFamilyPolicy', { clusterIP: 'None', selector: { a: 'b' }, ipFamilies: ['IPv4', 'IPv6'] }],
    ['spec.ipFamilyPolicy', { ports, ipFamilyPolicy: '' }],
    ['spec.ipFamilies[0]', { ports, ipFamilies: ['IPv5'] }],
    ['spec.ipFamilies[1]', { ...dual, ipFamilies: ['IPv4', 'IPv4'] }],
    ['spec.externalIPs[0]', { ports, externalIPs: [''] }],
    ['spec.externalIPs[0]', { ports, externalIPs: ['1.2.3.04'] }],
    ['spec.externalIPs[0]', { ports, externalIPs: ['::ffff:1.2.3.4'] }],
    ['spec.externalIPs[0]', { ports, externalIPs: ['127.0.0.1'] }],
    ['spec.loadBalancerSourceRanges[0]', { ...balanced, loadBalancerSourceRanges: ['10.0.0.1/8'] }],
    ['spec.loadBalancerSourceRanges[0]', { ...balanced, loadBalancerSourceRanges: ['010.0.0.0/8'] }],
    ['spec.loadBalancerSourceRanges[0]', { ...balanced, loadBalancerSourceRanges: ['10.0.0.0/08'] }],
    ['spec.loadBalancerSourceRanges[0]', { ...balanced, loadBalancerSourceRanges: ['::ffff:1.2.3.0/120'] }],
    ['spec.loadBalancerSourceRanges[0]', { ...balanced, loadBalancerSourceRanges: [''] }],
    ['spec.loadBalancerSourceRanges', { ports, loadBalancerSourceRanges: ['10.0.0.0/8'] }],
    ['spec.loadBalancerClass', { ports, loadBalancerClass: 'x' }],
    ['spec.loadBalancerClass', { ...balanced, loadBalancerClass: 'x y' }],
    ['spec.allocateLoadBalancerNodePorts', { ports, allocateLoadBalancerNodePorts: true }],
    ['spec.healthCheckNodePort', { ports, healthCheckNodePort: 3000 }],
    ['spec.healthCheckNodePort', { ...balanced, externalTrafficPolicy: 'Local', healthCheckNodePort: -1 }],
    ['spec.externalTrafficPolicy', { ports, externalTrafficPolicy: 'Cluster' }],
    ['spec.externalTrafficPolicy', { ...balanced, externalTrafficPolicy: 'local' }],
    ['spec.internalTrafficPolicy', { ports, internalTrafficPolicy: '' }],
    ['spec.trafficDistribution', { ports, trafficDistribution: '' }],
    ['spec.sessionAffinity', { ports, sessionAffinity: 'Cookie' }],
    [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 0 } } },
    ],
    [
      'spec.sessionAffinityConfig.clientIP.timeoutSeconds',
      { ports, sessionAffinity: 'ClientIP', sessionAffinityConfig: { clientIP: { timeoutSeconds: 86401 } } },
    ],
    ['spec.sessionAffinityConfig.clientIp', { ports, sessionAffinityConfig: { clientIp: {} } }],
    ['spec.type', { ports, type: 'Headless' }],
    ['spec.externalName', { type: 'ExternalName' }],
    ['spec.externalName', { type: 'ExternalName', externalName: 'a_b' }],
    ['spec.clusterIP', { type: 'ExternalName', externalName: 'a', clusterIP: 'None' }],
    ['spec.ipFamilies', { type: 'ExternalName', externalName: 'a', ipFamilies: ['IPv4'] }],
    ['spec.ports[0].port', { type: 'ExternalName', externalName: 'a', ports: [{ port: 0 }] }],
    ['spec.publishNotReadyAddresses', { ports, publishNotReadyAddresses: 'yes' }],
    ['spec.selector', { ports, selector: { 'a b': 'c' } }],
    ['spec.selector.a', { ports, selector: { a: 1 } }],
    ['metadata.name', { ports }, { name: 'a.b' }],
    ['metadata.labels.a', { ports }, { labels: { a: 1 } }],
    ['metadata.labels.a', { ports }, { labels: { a: 'b c' } }],
    ['metadata.annotations', { ports }, { annotations: { '-': 'x' } }],
    ['metadata.finalizers[0]', { ports }, { finalizers: ['x'] }],
    ['metadata.creationTimestamp', { ports }, { creationTimestamp: 'yesterday' }],
    ['metadata.generation', { ports }, { generation: -1 }],
    ['metadata.clusterName', { ports }, { clusterName: 'x' }],
    [
      'metadata.annotations[service.beta.kubernetes.io/load-balancer-source-ranges]',
      { ports },
      { annotations: { 'service.beta.kubernetes.io/load-balancer-source-ranges': '' } },
    ],
  ])('%s of %j', (...[field, spec, metadata]) => {
    expect(fields(spec, metadata)).toEqual([field]);
  });

  it('of an owner, each field that is missing', () => {
    expect(problems({ ports }, { ownerReferences: [{ kind: 'Pod' }] })).toEqual([
      'metadata.ownerReferences[0].apiVersion is missing',
      'metadata.ownerReferences[0].name is missing',
      'metadata.ownerReferences[0].uid is missing',
    ]);
  });

  it('annotations of more than 256 KiB', () => {
    expect(fields({ ports }, { annotations: { a: 'x'.repeat(256 * 1024) } })).toEqual([
      'metadata.annotations',
    ]);
  });

  it('in a status', () => {
    const ingress = [{ ip: '192.0.2.1', ipMode: 'Vip' }, { ip: 'x' }, { ip: 5 }, { hostnam: 'a' }];
    expect(fields(balanced, {}, { loadBalancer: { ingress } })).toEqual([
      'status.loadBalancer.ingress[0].ipMode',
      'status.loadBalancer.ingress[1].ip',
      'status.loadBalancer.ingress[2].ip',
      'status.loadBalancer.ingress[3].hostnam',
    ]);
  });
});

it('reports each cluster IP that is not of the family at its place', () => {
  const clusterIPs = ['fd00:96::4', '10.96.4.4'];
  const spec = { ...dual, clusterIP: clusterIPs[0], clusterIPs, ipFamilies: ['IPv4', 'IPv6'] };
  expect(fields(spec)).toEqual(['spec.clusterIP', 'spec.clusterIPs[1]']);
});
