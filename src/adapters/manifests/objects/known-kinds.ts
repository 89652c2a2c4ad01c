/** All kinds of the groups to which what the proxy reads belongs: https://kubernetes.io/docs/reference/kubernetes-api/. */
const KINDS_OF: ReadonlyMap<unknown, readonly string[]> = new Map([
  [
    'v1',
    [
      ...['Binding', 'ComponentStatus', 'ConfigMap', 'Endpoints', 'Event', 'LimitRange', 'Namespace', 'Node'],
      ...['PersistentVolume', 'PersistentVolumeClaim', 'Pod', 'PodTemplate', 'ReplicationController'],
      ...['ResourceQuota', 'Secret', 'Service', 'ServiceAccount'],
    ],
  ],
  ['discovery.k8s.io/v1', ['EndpointSlice']],
  ['networking.k8s.io/v1', ['IPAddress', 'Ingress', 'IngressClass', 'NetworkPolicy', 'ServiceCIDR']],
]);

/** False if it is certain that no API server knows the kind. */
export function mayExist(kind: string, apiVersion: unknown): boolean {
  return KINDS_OF.get(apiVersion)?.includes(kind) ?? true;
}
