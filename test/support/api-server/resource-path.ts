/** A request's path, taken apart. */
export interface ResourcePath {
  /** Path of the collection over all namespaces, such as /apis/discovery.k8s.io/v1/endpointslices. */
  readonly collection: string;
  readonly namespace?: string;
  readonly name?: string;
}

const PATH = /^(\/api\/[^/]+|\/apis\/[^/]+\/[^/]+)(?:\/namespaces\/([^/]+))?\/([^/]+)(?:\/([^/]+))?$/;

export function parseResourcePath(path: string): ResourcePath | undefined {
  const match = PATH.exec(path);
  if (!match) return undefined;
  const [, group, namespace, resource, name] = match;
  return {
    collection: `${group}/${resource}`,
    ...(namespace ? { namespace: decodeURIComponent(namespace) } : {}),
    ...(name ? { name: decodeURIComponent(name) } : {}),
  };
}

const PLURALS: Record<string, string> = { Endpoints: 'endpoints' };

/** The collection that an object of this apiVersion and kind is in. */
export function collectionOf(apiVersion: string, kind: string): string {
  const prefix = apiVersion.includes('/') ? '/apis' : '/api';
  return `${prefix}/${apiVersion}/${pluralOf(kind)}`;
}

/** What a kind is called in paths. */
export function pluralOf(kind: string): string {
  return PLURALS[kind] ?? `${kind.toLowerCase()}s`;
}

const KINDS = [
  'Service',
  'EndpointSlice',
  'Endpoints',
  'Node',
  'ServiceCIDR',
  'Event',
  'Pod',
  'Namespace',
  'ConfigMap',
  'Secret',
  'ServiceAccount',
  'ClusterRole',
  'ClusterRoleBinding',
  'DaemonSet',
  'ControllerRevision',
  'CiliumNodeConfig',
  'PodMonitor',
  'PrometheusRule',
];

/** The kind of the lists of a collection, such as `ServiceList`. */
export function listKindOf(collection: string): string {
  const plural = collection.slice(collection.lastIndexOf('/') + 1);
  return `${KINDS.find((kind) => pluralOf(kind) === plural) ?? ''}List`;
}

/** The apiVersion of a collection's objects, such as `apps/v1`. */
export function apiVersionOf(collection: string): string {
  return collection.split('/').slice(2, -1).join('/');
}

const CLUSTER_SCOPED = ['Node', 'ServiceCIDR', 'Namespace', 'ClusterRole', 'ClusterRoleBinding'];

export function isClusterScoped(kind: string): boolean {
  return CLUSTER_SCOPED.includes(kind);
}
