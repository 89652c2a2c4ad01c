import type { ResourceKind } from '../../../application/ports/cluster-source.js';

/** A collection of the API, and which of its objects to read. */
export interface Resource {
  readonly kind: ResourceKind;
  /** Path of the collection over all namespaces. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Status codes that mean, until the first successful list, that this cluster does not offer the resource. */
  readonly absentOn?: readonly number[];
}

/** The resources the proxy reads, with kube-proxy's selectors. */
export function proxyResources(nodeName: string): Record<ResourceKind, Resource> {
  return {
    Service: {
      kind: 'Service',
      path: '/api/v1/services',
      labelSelector: '!service.kubernetes.io/service-proxy-name',
      fieldSelector: 'spec.clusterIP!=None',
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
