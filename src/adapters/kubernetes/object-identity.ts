import type { ObjectReference } from '../../application/ports/cluster-source.js';

/** What a reflector needs to know of an object. */
export interface ObjectIdentity {
  readonly reference: ObjectReference;
  /** One text for namespace and name; "/" occurs in neither. */
  readonly key: string;
  readonly resourceVersion: string;
}

/** Undefined when the value is no object of the API. */
export function identityOf(object: unknown): ObjectIdentity | undefined {
  const metadata = (object as { metadata?: Record<string, unknown> } | null | undefined)?.metadata;
  if (!metadata || typeof metadata.name !== 'string' || typeof metadata.resourceVersion !== 'string')
    return undefined;
  const namespace = typeof metadata.namespace === 'string' ? metadata.namespace : '';
  const { name, resourceVersion } = metadata;
  return { reference: { namespace, name }, key: `${namespace}/${name}`, resourceVersion };
}

export function referenceOf(key: string): ObjectReference {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}
