import type { ResourceKind } from '../../../application/ports/cluster-source.js';

/** A collection of the API, and which of its objects to read. */
export interface Resource {
  readonly kind: ResourceKind;
  /** Path of the collection over all namespaces. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** The field of the selector, where some API servers do not support it; then `isSelected` decides alone. */
  readonly selectedField?: string;
  /** Whether the proxy reads this object: the same as the field selector. Every object by default. */
  readonly isSelected?: (object: unknown) => boolean;
  /** Status codes that mean that this cluster does not offer the resource; after a successful list only 404 does. */
  readonly absentOn?: readonly number[];
}

const CLUSTER_IP = 'spec.clusterIP';

interface RawService {
  readonly spec?: { readonly clusterIP?: unknown } | null;
}

/** The resources the proxy reads, with kube-proxy's selectors. */
export function proxyResources(nodeName: string): Record<ResourceKind, Resource> {
  return {
    Service: {
      kind: 'Service',
      path: '/api/v1/services',
      labelSelector: '!service.kubernetes.io/service-proxy-name',
      // API servers support this field since 1.31.
      fieldSelector: `${CLUSTER_IP}!=None`,
      selectedField: CLUSTER_IP,
      isSelected: (service) => (service as RawService | null)?.spec?.clusterIP !== 'None',
    },
    EndpointSlice: {
      kind: 'EndpointSlice',
      path: '/apis/discovery.k8s.io/v1/endpointslices',
      labelSelector: '!service.kubernetes.io/headless',
      absentOn: [404],
    },
    Endpoints: {
      kind: 'Endpoints',
      path: '/api/v1/endpoints',
      labelSelector: '!service.kubernetes.io/headless',
    },
    Node: { kind: 'Node', path: '/api/v1/nodes', fieldSelector: `metadata.name=${nodeName}` },
    ServiceCIDR: {
      kind: 'ServiceCIDR',
      path: '/apis/networking.k8s.io/v1/servicecidrs',
      // Roles written for older versions do not allow reading it.
      absentOn: [404, 403],
    },
  };
}
