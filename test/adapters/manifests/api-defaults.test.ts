import { checkObject } from '../../../src/adapters/manifests/manifest-kinds.js';
import { readEndpoints, readEndpointSlice } from '../../../src/domain/decode/read-endpoint-slice.js';
import { readNode } from '../../../src/domain/decode/read-node.js';
import { readService } from '../../../src/domain/decode/read-service.js';

const named = { metadata: { namespace: 'shop', name: 'cart' } };

/** As an API server stores it, where everything that it fills in has its default. */
const clusterIP = {
  ...named,
  spec: {
    type: 'ClusterIP',
    clusterIP: '10.96.0.10',
    clusterIPs: ['10.96.0.10'],
    ipFamilies: ['IPv4'],
    ipFamilyPolicy: 'SingleStack',
    internalTrafficPolicy: 'Cluster',
    sessionAffinity: 'None',
    publishNotReadyAddresses: false,
    ports: [{ protocol: 'TCP', port: 80, targetPort: 80 }],
  },
};
const loadBalancer = {
  ...named,
  spec: {
    ...clusterIP.spec,
    type: 'LoadBalancer',
    externalTrafficPolicy: 'Cluster',
    allocateLoadBalancerNodePorts: true,
    sessionAffinity: 'ClientIP',
    sessionAffinityConfig: { clientIP: { timeoutSeconds: 10_800 } },
    ports: [{ protocol: 'TCP', port: 80, targetPort: 80, nodePort: 30_080 }],
  },
  status: { loadBalancer: { ingress: [{ ip: '192.0.2.1', ipMode: 'VIP' }] } },
};
const slice = {
  metadata: { namespace: 'shop', name: 'cart-1', labels: { 'kubernetes.io/service-name': 'cart' } },
  addressType: 'IPv4',
  ports: [{ name: '', protocol: 'TCP', port: 8080 }],
  endpoints: [{ addresses: ['10.244.1.5'], conditions: { ready: true, serving: true, terminating: false } }],
};
const endpoints = {
  ...named,
  subsets: [{ addresses: [{ ip: '10.244.1.5' }], ports: [{ name: '', protocol: 'TCP', port: 8080 }] }],
};
const node = {
  metadata: { name: 'n1' },
  spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] },
};

const readers = {
  Service: readService,
  EndpointSlice: (object: unknown) => readEndpointSlice(object, 'n1'),
  Endpoints: (object: unknown) => readEndpoints(object, 'n1'),
  Node: readNode,
};

/** A copy without the member at the path. */
function without(object: unknown, [name, ...rest]: readonly string[]): unknown {
  const copy: Record<string, unknown> | unknown[] = Array.isArray(object)
    ? [...(object as unknown[])]
    : { ...(object as object) };
  const members = copy as Record<string, unknown>;
  if (!(name! in members)) throw new Error(`there is no ${name}`);
  if (rest.length === 0) delete members[name!];
  else members[name!] = without(members[name!], rest);
  return copy;
}

describe('what an API server fills in, a manifest may leave out', () => {
  it.each([
    ['Service', clusterIP, 'spec.type'],
    ['Service', clusterIP, 'spec.clusterIPs'],
    ['Service', clusterIP, 'spec.ipFamilies'],
    ['Service', clusterIP, 'spec.ipFamilyPolicy'],
    ['Service', clusterIP, 'spec.internalTrafficPolicy'],
    ['Service', clusterIP, 'spec.sessionAffinity'],
    ['Service', clusterIP, 'spec.publishNotReadyAddresses'],
    ['Service', clusterIP, 'spec.ports.0.protocol'],
    ['Service', clusterIP, 'spec.ports.0.targetPort'],
    ['Service', loadBalancer, 'spec.externalTrafficPolicy'],
    ['Service', loadBalancer, 'spec.allocateLoadBalancerNodePorts'],
    ['Service', loadBalancer, 'spec.sessionAffinityConfig'],
    ['Service', loadBalancer, 'spec.sessionAffinityConfig.clientIP'],
    ['Service', loadBalancer, 'spec.sessionAffinityConfig.clientIP.timeoutSeconds'],
    ['Service', loadBalancer, 'status.loadBalancer.ingress.0.ipMode'],
    ['EndpointSlice', slice, 'ports.0.name'],
    ['EndpointSlice', slice, 'ports.0.protocol'],
    ['EndpointSlice', slice, 'endpoints.0.conditions'],
    ['EndpointSlice', slice, 'endpoints.0.conditions.ready'],
    ['EndpointSlice', slice, 'endpoints.0.conditions.serving'],
    ['EndpointSlice', slice, 'endpoints.0.conditions.terminating'],
    ['Endpoints', endpoints, 'subsets.0.ports.0.name'],
    ['Endpoints', endpoints, 'subsets.0.ports.0.protocol'],
    ['Node', node, 'spec.podCIDRs'],
  ] as const)('%s %#: $2', (kind, whole, path) => {
    const read = (object: unknown) => {
      const checked = checkObject(kind, object as Record<string, unknown>);
      return { invalid: checked.problems, ...readers[kind](checked.object) };
    };
    const reading = read(whole);
    expect(reading).toMatchObject({ invalid: [], problems: [] });
    expect(reading.value).toBeDefined();
    expect(read(without(whole, path.split('.')))).toEqual(reading);
  });
});
