import type { Verdict } from '../../src/domain/verdict/verdict.js';
import type { ApiObject } from './api-server/object-store.js';

/** The node that the verdicts are those of. */
export const BROKEN_NODE = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'n1', labels: { 'topology.kubernetes.io/zone': 'a' } },
  spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] },
  status: { addresses: [{ type: 'InternalIP', address: '192.0.2.4' }] },
} as const satisfies ApiObject;

/** The namespace of all of them. */
export const BROKEN_NAMESPACE = 'shop';

/**
 * Besides objects, what makes it broken: the kernel rejects its rules; its first endpoint does not answer; or the API server has
 * to be queried, since it does not deliver such a Service.
 */
type Circumstance = 'rejected' | 'unresponsive' | 'queried';

/** A Service with a classic mistake, or without one although it looks like it, and its verdict on `BROKEN_NODE`. */
export interface BrokenService {
  /** The Service is `shop/<name>`. */
  readonly name: string;
  readonly objects: readonly ApiObject[];
  readonly circumstance?: Circumstance;
  readonly expected: Required<Pick<Verdict, 'state' | 'cause' | 'reason'>> & Pick<Verdict, 'nextStep'>;
}

const SELECTOR = { app: 'web' };

interface ServiceParts {
  readonly spec?: object;
  readonly metadata?: object;
  readonly status?: object;
}

/** How many Services have been made: each gets cluster IPs of its own. */
let made = 0;

function service(name: string, { spec = {}, metadata = {}, status }: ServiceParts = {}): ApiObject {
  const clusterIP = `10.96.7.${++made}`;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { namespace: BROKEN_NAMESPACE, name, ...metadata },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [(spec as { clusterIP?: string }).clusterIP ?? clusterIP],
      ipFamilies: ['IPv4'],
      ipFamilyPolicy: 'SingleStack',
      internalTrafficPolicy: 'Cluster',
      sessionAffinity: 'None',
      selector: SELECTOR,
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080 }],
      ...spec,
    },
    ...(status && { status }),
  };
}

interface EndpointParts {
  readonly ready?: boolean;
  readonly serving?: boolean;
  readonly terminating?: boolean;
  readonly nodeName?: string;
  readonly zone?: string;
  readonly forZone?: string;
}

/** On another node, ready. */
function endpoint(address: string, parts: EndpointParts = {}): object {
  const { ready = true, serving = ready, terminating = false, nodeName = 'n2', zone = 'b', forZone } = parts;
  const pod = `web-${address.split('.').slice(2).join('-')}`;
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    nodeName,
    zone,
    targetRef: { kind: 'Pod', namespace: BROKEN_NAMESPACE, name: pod },
    ...(forZone !== undefined && { hints: { forZones: [{ name: forZone }] } }),
  };
}

const PORTS = [{ name: 'http', port: 8080, protocol: 'TCP' }];

function slice(service: string, endpoints: readonly object[], fields: object = {}): ApiObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      namespace: BROKEN_NAMESPACE,
      name: `${service}-abcde`,
      labels: { 'kubernetes.io/service-name': service },
    },
    addressType: 'IPv4',
    ports: PORTS,
    endpoints,
    ...fields,
  };
}

/** The EndpointSlice controller makes such a slice for a Service that selects no pod. */
const placeholder = (service: string) => slice(service, [], { ports: [] });

/** Of a Service without a mistake, at addresses that others request. */
const owner: readonly ApiObject[] = [
  service('owner', {
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: {
      type: 'NodePort',
      clusterIP: '10.96.8.1',
      externalIPs: ['203.0.113.9'],
      externalTrafficPolicy: 'Cluster',
      ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080, nodePort: 30080 }],
    },
  }),
  slice('owner', [endpoint('10.244.2.9')]),
];

const younger = { creationTimestamp: '2026-02-01T00:00:00Z' };

const named = (name: string): object => ({
  ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: name }],
});

const slicesOf = (name: string): string =>
  `kubectl -n shop describe endpointslices -l kubernetes.io/service-name=${name}`;

const PODS = 'kubectl -n shop get pods -l app=web --show-labels';

/** Some have objects that others need: deliver all together. */
export const BROKEN_SERVICES: readonly BrokenService[] = [
  {
    name: 'wrong-selector',
    objects: [
      service('wrong-selector', { spec: { selector: { app: 'webb' } } }),
      placeholder('wrong-selector'),
    ],
    expected: {
      state: 'error',
      cause: 'NoPodSelected',
      reason: 'no pod has the labels app=webb',
      nextStep: 'check the selector: kubectl -n shop get pods -l app=webb --show-labels',
    },
  },
  {
    name: 'scaled-to-zero',
    objects: [service('scaled-to-zero'), placeholder('scaled-to-zero')],
    expected: {
      state: 'error',
      cause: 'NoPodSelected',
      reason: 'no pod has the labels app=web',
      nextStep: `check the selector: ${PODS}`,
    },
  },
  {
    name: 'no-selector',
    objects: [service('no-selector', { spec: { selector: undefined } })],
    expected: {
      state: 'error',
      cause: 'NoEndpointSlice',
      reason: 'it has no selector, and no EndpointSlice has the label kubernetes.io/service-name=no-selector',
      nextStep:
        'add a selector, or an EndpointSlice with this label: kubectl -n shop get endpointslices --show-labels',
    },
  },
  {
    name: 'no-slices',
    objects: [service('no-slices')],
    expected: {
      state: 'error',
      cause: 'NoEndpointSlice',
      reason: 'no EndpointSlice has the label kubernetes.io/service-name=no-slices',
      nextStep: 'check that kube-controller-manager runs: kubectl -n kube-system get pods',
    },
  },
  {
    name: 'wrong-target-port',
    objects: [
      service('wrong-target-port', { spec: named('htpp') }),
      slice('wrong-target-port', [endpoint('10.244.2.1')], { ports: [] }),
    ],
    expected: {
      state: 'error',
      cause: 'NoSuchTargetPort',
      reason: 'no pod has a port named htpp, the targetPort of the Service',
      nextStep: 'compare with the ports of the pods: kubectl -n shop describe pods -l app=web',
    },
  },
  {
    name: 'wrong-port-name',
    objects: [
      service('wrong-port-name'),
      slice('wrong-port-name', [endpoint('10.244.2.2')], {
        ports: [{ name: 'web', port: 8080, protocol: 'TCP' }],
      }),
    ],
    expected: {
      state: 'error',
      cause: 'NoSuchPort',
      reason: 'no EndpointSlice has a port named http (they have: web)',
      nextStep: `compare the port names: ${slicesOf('wrong-port-name')}`,
    },
  },
  {
    name: 'wrong-protocol',
    objects: [
      service('wrong-protocol'),
      slice('wrong-protocol', [endpoint('10.244.2.3')], {
        ports: [{ name: 'http', port: 8080, protocol: 'UDP' }],
      }),
    ],
    expected: {
      state: 'error',
      cause: 'OtherProtocol',
      reason: 'no EndpointSlice has a port named http for TCP (they have: http for UDP)',
      nextStep: `compare the protocols: ${slicesOf('wrong-protocol')}`,
    },
  },
  {
    name: 'other-family',
    objects: [
      service('other-family'),
      slice('other-family', [{ ...endpoint('10.244.2.4'), addresses: ['2001:db8::5'] }], {
        addressType: 'IPv6',
      }),
    ],
    expected: {
      state: 'error',
      cause: 'OtherFamily',
      reason: 'all its EndpointSlices are IPv6, and its cluster IP is IPv4',
      nextStep: `compare the address types: ${slicesOf('other-family')}`,
    },
  },
  {
    name: 'unready',
    objects: [
      service('unready'),
      slice('unready', [
        endpoint('10.244.2.5', { ready: false }),
        endpoint('10.244.1.5', { ready: false, nodeName: 'n1' }),
      ]),
    ],
    expected: {
      state: 'error',
      cause: 'NoReadyEndpoint',
      reason: '0 of 2 endpoints are ready',
      nextStep: 'check the readiness probes: kubectl -n shop describe pods -l app=web',
    },
  },
  {
    name: 'all-terminating',
    objects: [
      service('all-terminating'),
      slice('all-terminating', [endpoint('10.244.2.6', { ready: false, terminating: true })]),
    ],
    expected: {
      state: 'error',
      cause: 'AllTerminating',
      reason: 'the only endpoint is terminating and no longer serves',
      nextStep: 'check why no pod takes over: kubectl -n shop get pods -l app=web',
    },
  },
  {
    name: 'only-terminating',
    objects: [
      service('only-terminating'),
      slice('only-terminating', [
        endpoint('10.244.2.7', { ready: false, serving: true, terminating: true }),
        endpoint('10.244.1.7', { ready: false, serving: true, terminating: true, nodeName: 'n1' }),
      ]),
    ],
    expected: {
      state: 'warning',
      cause: 'OnlyTerminating',
      reason: 'no endpoint is ready; traffic goes to 2 terminating endpoints that still serve',
      nextStep: 'check why no pod takes over: kubectl -n shop get pods -l app=web',
    },
  },
  {
    name: 'local-elsewhere',
    objects: [
      service('local-elsewhere', { spec: { internalTrafficPolicy: 'Local' } }),
      slice('local-elsewhere', [endpoint('10.244.2.8')]),
    ],
    expected: {
      state: 'error',
      cause: 'NoLocalEndpoint',
      reason:
        'internalTrafficPolicy is Local and no endpoint on the node is ready: packets from clients on the node are dropped',
      nextStep:
        'run a pod on every node, or set internalTrafficPolicy to Cluster: kubectl -n shop edit service local-elsewhere',
    },
  },
  {
    name: 'external-elsewhere',
    objects: [
      service('external-elsewhere', {
        spec: {
          type: 'NodePort',
          externalTrafficPolicy: 'Local',
          ports: [{ name: 'http', port: 80, protocol: 'TCP', targetPort: 8080, nodePort: 30081 }],
        },
      }),
      slice('external-elsewhere', [endpoint('10.244.2.10')]),
    ],
    expected: {
      state: 'ok',
      cause: 'NoLocalEndpoint',
      reason:
        'externalTrafficPolicy is Local and no endpoint on the node is ready: the node drops packets from outside the cluster, so load balancers use other nodes',
    },
  },
  {
    name: 'other-zones',
    objects: [
      service('other-zones', { spec: { trafficDistribution: 'PreferSameZone' } }),
      slice('other-zones', [
        endpoint('10.244.1.11', { nodeName: 'n1', zone: 'a', forZone: 'a' }),
        endpoint('10.244.2.11', { forZone: 'b' }),
      ]),
    ],
    expected: {
      state: 'ok',
      cause: 'OtherZones',
      reason: '1 ready endpoint is hinted for zone b, and the node is in zone a',
    },
  },
  {
    name: 'external-ip-conflict',
    objects: [
      service('external-ip-conflict', {
        metadata: younger,
        spec: { externalIPs: ['203.0.113.9'] },
      }),
      slice('external-ip-conflict', [endpoint('10.244.2.12')]),
      ...owner,
    ],
    expected: {
      state: 'warning',
      cause: 'FrontendConflict',
      reason: '203.0.113.9:80/TCP belongs to shop/owner:http',
      nextStep:
        'remove the address or port from one of the Services: kubectl -n shop edit service external-ip-conflict',
    },
  },
  {
    name: 'cluster-ip-conflict',
    objects: [
      service('cluster-ip-conflict', { metadata: younger, spec: { clusterIP: '10.96.8.1' } }),
      slice('cluster-ip-conflict', [endpoint('10.244.2.13')]),
    ],
    expected: {
      state: 'error',
      cause: 'FrontendConflict',
      reason: 'all its frontends belong to other Services: 10.96.8.1:80/TCP belongs to shop/owner:http',
      nextStep:
        'remove the address or port from one of the Services: kubectl -n shop edit service cluster-ip-conflict',
    },
  },
  {
    name: 'invalid',
    objects: [
      service('invalid', { spec: { type: 'LoadBalancer', loadBalancerSourceRanges: ['10.0.0.0/33'] } }),
      slice('invalid', [endpoint('10.244.2.14')]),
    ],
    expected: {
      state: 'error',
      cause: 'InvalidObject',
      reason: 'it is invalid and ignored: spec.loadBalancerSourceRanges[0] "10.0.0.0/33" is not a CIDR',
      nextStep: 'correct the object: kubectl -n shop edit service invalid',
    },
  },
  {
    name: 'invalid-annotation',
    objects: [
      service('invalid-annotation', {
        metadata: { annotations: { 'kube-proxy-ts/load-balancing': 'magelv' } },
      }),
      slice('invalid-annotation', [endpoint('10.244.2.15')]),
    ],
    expected: {
      state: 'warning',
      cause: 'AnnotationIgnored',
      reason:
        'metadata.annotations[kube-proxy-ts/load-balancing] "magelv" is none of random, round-robin, least-connections, maglev, maglev-source; ignored, so endpoints are chosen as without it; did you mean maglev?',
      nextStep: 'correct the annotation: kubectl -n shop edit service invalid-annotation',
    },
  },
  {
    name: 'headless',
    objects: [service('headless', { spec: { clusterIP: 'None', clusterIPs: ['None'] } })],
    circumstance: 'queried',
    expected: {
      state: 'ok',
      cause: 'Headless',
      reason: 'it is headless (clusterIP None): its name resolves to its pods, and no proxy is needed',
    },
  },
  {
    name: 'external-name',
    objects: [
      service('external-name', {
        spec: {
          type: 'ExternalName',
          externalName: 'shop.example.com',
          clusterIP: undefined,
          clusterIPs: undefined,
          ipFamilies: undefined,
          ipFamilyPolicy: undefined,
        },
      }),
    ],
    expected: {
      state: 'ok',
      cause: 'ExternalName',
      reason: 'its type is ExternalName: its name resolves to another name, and no proxy is needed',
    },
  },
  {
    name: 'other-proxy',
    objects: [
      service('other-proxy', {
        metadata: { labels: { 'service.kubernetes.io/service-proxy-name': 'cilium' } },
      }),
    ],
    circumstance: 'queried',
    expected: {
      state: 'ok',
      cause: 'OtherProxy',
      reason: 'its label service.kubernetes.io/service-proxy-name gives it to another proxy',
    },
  },
  {
    name: 'missing',
    objects: [],
    expected: {
      state: 'error',
      cause: 'NotFound',
      reason: 'there is no Service missing in namespace shop',
      nextStep: 'check the name and the namespace: kubectl get services -A',
    },
  },
  {
    name: 'unresponsive',
    objects: [
      service('unresponsive', {
        metadata: { annotations: { 'kube-proxy-ts/eject-unresponsive-endpoints': 'true' } },
      }),
      slice('unresponsive', [
        endpoint('10.244.2.16'),
        endpoint('10.244.2.17'),
        endpoint('10.244.1.17', { nodeName: 'n1' }),
      ]),
    ],
    circumstance: 'unresponsive',
    expected: {
      state: 'warning',
      cause: 'UnresponsiveEndpoint',
      reason: '1 of 3 ready endpoints does not answer: pod web-2-16 (10.244.2.16:8080)',
      nextStep: 'check the pod of the endpoint: kubectl -n shop describe pod web-2-16',
    },
  },
  {
    name: 'rejected',
    objects: [service('rejected'), slice('rejected', [endpoint('10.244.2.18')])],
    circumstance: 'rejected',
    expected: {
      state: 'error',
      cause: 'ProgrammingFailed',
      reason: 'it cannot be programmed on the node: the kernel rejects it',
      nextStep: 'check the proxy of the node: kubeproxy status',
    },
  },
];

/** All their objects. */
export function brokenObjects(): readonly ApiObject[] {
  return BROKEN_SERVICES.flatMap(({ objects }) => objects);
}
