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
  return `${prefix}/${apiVersion}/${PLURALS[kind] ?? `${kind.toLowerCase()}s`}`;
}

const KINDS = ['Service', 'EndpointSlice', 'Endpoints', 'Node', 'ServiceCIDR', 'Event', 'Pod'];

/** The kind of the lists of a collection, such as `ServiceList`. */
export function listKindOf(collection: string): string {
  const plural = collection.slice(collection.lastIndexOf('/') + 1);
  return `${KINDS.find((kind) => (PLURALS[kind] ?? `${kind.toLowerCase()}s`) === plural) ?? ''}List`;
}

const CLUSTER_SCOPED = ['Node', 'ServiceCIDR', 'Namespace'];

export function isClusterScoped(kind: string): boolean {
  return CLUSTER_SCOPED.includes(kind);
}
