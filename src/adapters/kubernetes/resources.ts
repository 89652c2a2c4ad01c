import type { ResourceKind } from '../../application/ports/cluster-source.js';

/** A collection of the API, and which of its objects are wanted. */
export interface Resource {
  readonly kind: ResourceKind;
  /** Path of the collection over all namespaces. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Answers that mean, as long as nothing was ever listed, that this cluster does not offer the resource. */
  readonly absentOn?: readonly number[];
}

/** What the proxy reads, with kube-proxy's selectors. */
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
      // Roles made for older versions do not allow to read it.
      absentOn: [404, 403],
    },
  };
}
