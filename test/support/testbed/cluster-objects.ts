import { stringify } from 'yaml';
import type { IpFamily } from '../../../src/domain/net/ip-family.js';
import type { ApiObject } from '../api-server/object-store.js';

/** A service for a test; the rest of the object is filled in. */
export interface TestService {
  readonly name: string;
  /** Of the service's only family. */
  readonly clusterIP: string;
  readonly ports: readonly {
    readonly name: string;
    readonly protocol: 'TCP' | 'UDP' | 'SCTP';
    readonly port: number;
    readonly targetPort: number;
    readonly nodePort?: number;
  }[];
  readonly externalIPs?: readonly string[];
  readonly loadBalancerIPs?: readonly string[];
  /** Default: Cluster. */
  readonly externalTrafficPolicy?: 'Local';
  readonly loadBalancerSourceRanges?: readonly string[];
  /** Session affinity with this timeout in seconds. */
  readonly affinitySeconds?: number;
  readonly annotations?: Readonly<Record<string, string>>;
  /** The addresses of its ready endpoints, all on the node. */
  readonly endpoints: readonly string[];
}

/** The configuration that goes with the test bed's addresses. */
export const testConfig = stringify({
  apiVersion: 'kubeproxy.config.k8s.io/v1alpha1',
  kind: 'KubeProxyConfiguration',
  hostnameOverride: 'node1',
  clusterCIDR: '10.244.0.0/16',
  conntrack: { maxPerCore: 0, min: 0, tcpEstablishedTimeout: '0s', tcpCloseWaitTimeout: '0s' },
});

/** The whole state of a cluster with these services, in YAML: the test bed's node, the service network, services, slices. */
export function clusterObjects(services: readonly TestService[]): string {
  return [testNode, testServiceCidr, ...services.flatMap(serviceObjects)]
    .map((object) => stringify(object))
    .join('---\n');
}

/** A service as its two objects: Service and EndpointSlice. */
export function serviceObjects(service: TestService): [ApiObject, ApiObject] {
  return [serviceOf(service), sliceOf(service)];
}

/** The test bed's node. */
export const testNode = {
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name: 'node1', labels: { 'kubernetes.io/hostname': 'node1' } },
  spec: { podCIDR: '10.244.1.0/24', podCIDRs: ['10.244.1.0/24'] },
  status: { addresses: [{ type: 'InternalIP', address: '198.51.100.11' }] },
};

/** The service network. */
export const testServiceCidr = {
  apiVersion: 'networking.k8s.io/v1',
  kind: 'ServiceCIDR',
  metadata: { name: 'kubernetes' },
  spec: { cidrs: ['172.30.0.0/16'] },
};

function serviceOf(service: TestService): ApiObject {
  const { name, clusterIP, ports, externalIPs, loadBalancerIPs, affinitySeconds, annotations } = service;
  const { externalTrafficPolicy, loadBalancerSourceRanges } = service;
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', ...(annotations && { annotations }) },
    spec: {
      type: typeOf(service),
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: [familyOf(clusterIP)],
      ipFamilyPolicy: 'SingleStack',
      ports,
      ...(externalIPs && { externalIPs }),
      ...(externalTrafficPolicy && { externalTrafficPolicy }),
      ...(loadBalancerSourceRanges && { loadBalancerSourceRanges }),
      ...(affinitySeconds === undefined
        ? {}
        : {
            sessionAffinity: 'ClientIP',
            sessionAffinityConfig: { clientIP: { timeoutSeconds: affinitySeconds } },
          }),
    },
    ...(loadBalancerIPs && {
      status: { loadBalancer: { ingress: loadBalancerIPs.map((ip) => ({ ip, ipMode: 'VIP' })) } },
    }),
  };
}

function typeOf({ ports, loadBalancerIPs }: TestService): string {
  if (loadBalancerIPs) return 'LoadBalancer';
  return ports.some(({ nodePort }) => nodePort !== undefined) ? 'NodePort' : 'ClusterIP';
}

function sliceOf({ name, clusterIP, ports, endpoints }: TestService): ApiObject {
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: `${name}-a`, namespace: 'default', labels: { 'kubernetes.io/service-name': name } },
    addressType: familyOf(clusterIP),
    ports: ports.map(({ name: port, protocol, targetPort }) => ({ name: port, protocol, port: targetPort })),
    endpoints: endpoints.map((address) => ({
      addresses: [address],
      conditions: { ready: true, serving: true, terminating: false },
      nodeName: 'node1',
    })),
  };
}

function familyOf(address: string): IpFamily {
  return address.includes(':') ? 'IPv6' : 'IPv4';
}
