import type { ForwardingContext } from '../../src/domain/forwarding/forward-service.js';
import type { Endpoint } from '../../src/domain/model/endpoint.js';
import {
  slicePorts,
  type EndpointSlice,
  type NumberedPort,
  type SliceEndpoint,
} from '../../src/domain/model/endpoint-slice.js';
import type { Service } from '../../src/domain/model/service.js';

/** A node without a zone, for IPv4. */
export const FORWARDING: ForwardingContext = {
  family: 'IPv4',
  topology: { nodeName: 'n1', zone: '', nodeHints: false },
  nodeIP: '192.0.2.4',
  externalIPsAllowed: true,
};

/** A Service with one TCP port, and what a test changes about it. */
export function service(parts: Partial<Service> = {}): Service {
  return {
    namespace: 'shop',
    name: 'cart',
    type: 'ClusterIP',
    clusterIPs: { IPv4: '10.96.7.1' },
    ports: [{ name: '', protocol: 'TCP', port: 80, nodePort: 0 }],
    affinitySeconds: 0,
    externalIPs: [],
    loadBalancerIPs: [],
    sourceRanges: [],
    externalPolicyLocal: false,
    internalPolicyLocal: false,
    healthCheckNodePort: 0,
    ...parts,
  };
}

/** A ready endpoint elsewhere. */
export function sliceEndpoint(address: string, parts: Partial<SliceEndpoint> = {}): SliceEndpoint {
  return {
    address,
    isLocal: false,
    ready: true,
    serving: true,
    terminating: false,
    zoneHints: [],
    nodeHints: [],
    ...parts,
  };
}

interface SliceParts extends Partial<Omit<EndpointSlice, 'ports'>> {
  readonly ports?: readonly NumberedPort[];
}

export function slice(
  name: string,
  endpoints: readonly SliceEndpoint[],
  { ports = [{ name: '', port: 8080, protocol: 'TCP' }], ...parts }: SliceParts = {},
): EndpointSlice {
  return {
    namespace: 'shop',
    name,
    service: 'cart',
    family: 'IPv4',
    ports: slicePorts(ports, endpoints),
    ...parts,
  };
}

export function endpoint(address: string, parts: Partial<Endpoint> = {}): Endpoint {
  const port = parts.port ?? 8080;
  return { ...sliceEndpoint(address), port, ...parts };
}
