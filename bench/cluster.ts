/**
 * A synthetic cluster of any size: N services of M endpoints each. Deterministic: the same numbers produce the same objects,
 * so that a second run finds nothing to change. Cluster IPs count up in 10.96.0.0/12, pods in 10.128.0.0/9.
 */

export const NODE_NAME = 'bench-node';
export const NODE_ADDRESS = '198.51.100.11';
export const CLUSTER_CIDR = '10.128.0.0/9';
export const SERVICE_CIDR = '10.96.0.0/12';
const FIRST_SERVICE = 0x0a600100; // 10.96.1.0
const FIRST_POD = 0x0a800001; // 10.128.0.1
/** Above the pods of 100,000 services with 50 endpoints. */
const FIRST_REPLACEMENT = 0x0ae00001; // 10.224.0.1

/** Largest sizes whose addresses stay inside their ranges. */
export const MOST_SERVICES = 1_000_000;
export const MOST_PODS = 6_000_000;

export function node(): object {
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: NODE_NAME },
    spec: { podCIDR: '10.128.0.0/24', podCIDRs: ['10.128.0.0/24'] },
    status: { addresses: [{ type: 'InternalIP', address: NODE_ADDRESS }] },
  };
}

export function serviceCidr(): object {
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'ServiceCIDR',
    metadata: { name: 'kubernetes' },
    spec: { cidrs: [SERVICE_CIDR] },
  };
}

/** Of the service of that number. */
export function clusterIPOf(index: number): string {
  return ipv4(FIRST_SERVICE + index);
}

/** Of one of so many endpoints of the service of that number. */
export function podAddress(index: number, endpoints: number, endpoint: number): string {
  return ipv4(FIRST_POD + index * endpoints + endpoint);
}

/** Of the pod that replaces an endpoint. */
export function replacementAddress(generation: number): string {
  return ipv4(FIRST_REPLACEMENT + generation);
}

/** The service of that number, counted from 0. */
export function service(index: number, annotations: Readonly<Record<string, string>> = {}): object {
  const clusterIP = clusterIPOf(index);
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: serviceName(index), namespace: 'bench', annotations },
    spec: {
      type: 'ClusterIP',
      clusterIP,
      clusterIPs: [clusterIP],
      ipFamilies: ['IPv4'],
      ports: [{ name: 'http', protocol: 'TCP', port: 80, targetPort: 8080 }],
    },
  };
}

/**
 * Its endpoints. A `generation` above 0 replaces the first of them with another pod, a different one for each
 * generation (up to 100,000), as a rollout does.
 */
export function endpointSlice(index: number, endpoints: number, generation = 0): object {
  const addresses = Array.from({ length: endpoints }, (_, endpoint) =>
    podAddress(index, endpoints, endpoint),
  );
  if (generation > 0) addresses[0] = replacementAddress(generation);
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: {
      name: `${serviceName(index)}-1`,
      namespace: 'bench',
      labels: { 'kubernetes.io/service-name': serviceName(index) },
    },
    addressType: 'IPv4',
    ports: [{ name: 'http', protocol: 'TCP', port: 8080 }],
    endpoints: addresses.map((address) => ({
      addresses: [address],
      nodeName: 'another-node',
      conditions: { ready: true, serving: true, terminating: false },
    })),
  };
}

function serviceName(index: number): string {
  return `service-${index}`;
}

function ipv4(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 255).join('.');
}
