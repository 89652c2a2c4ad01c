import { hash } from 'node:crypto';
import type { ObjectReference, ResourceKind } from '../../application/ports/cluster-source.js';
import { documentPlace, itemPlace } from './manifest-text.js';

/** One object of a manifest that the proxy reads. */
export interface ManifestObject {
  /** Kind, namespace and name: what makes two objects the same. */
  readonly key: string;
  readonly kind: ResourceKind;
  readonly object: object;
  /** Tells one content from another. */
  readonly digest: string;
}

/** An object that cannot be used, and where it is (`document 1, item 3`). */
export interface ManifestIssue {
  readonly place: string;
  readonly problem: string;
}

export interface ManifestContents {
  /** In the order of the file. */
  readonly objects: readonly ManifestObject[];
  readonly issues: readonly ManifestIssue[];
  /** How often each kind occurs that the proxy does not read. */
  readonly ignored: ReadonlyMap<string, number>;
}

interface KindFacts {
  readonly group: string;
  readonly namespaced: boolean;
}

const KINDS: Readonly<Record<ResourceKind, KindFacts>> = {
  Service: { group: '', namespaced: true },
  EndpointSlice: { group: 'discovery.k8s.io', namespaced: true },
  Endpoints: { group: '', namespaced: true },
  Node: { group: '', namespaced: false },
  ServiceCIDR: { group: 'networking.k8s.io', namespaced: false },
};

export const MANIFEST_KINDS = Object.keys(KINDS) as readonly ResourceKind[];

interface RawObject {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
  readonly items?: unknown;
  readonly metadata?: unknown;
}

/**
 * Picks the objects that the proxy reads out of parsed documents. Lists (`List`, `ServiceList`…) are opened, nested ones
 * too; the items of a typed list need no kind of their own. A kind counts only in its own API group: a Knative Service
 * is not a Service. Without an apiVersion the kind decides. A namespaced object without namespace is in `default`.
 */
export function readObjects(documents: readonly unknown[]): ManifestContents {
  const objects: ManifestObject[] = [];
  const issues: ManifestIssue[] = [];
  const ignored = new Map<string, number>();

  const visit = (value: unknown, place: string, listKind?: string): void => {
    if (!isObject(value)) {
      issues.push({ place, problem: 'is not an object' });
      return;
    }
    const raw: RawObject = value;
    const kind = raw.kind ?? listKind;
    if (typeof kind !== 'string' || kind === '') {
      issues.push({ place, problem: 'has no kind' });
    } else if (kind.endsWith('List') && Array.isArray(raw.items)) {
      const itemKind = kind === 'List' ? undefined : kind.slice(0, -'List'.length);
      raw.items.forEach((item, index) => visit(item, itemPlace(place, index), itemKind));
    } else if (!isKnown(kind, raw.apiVersion)) {
      ignored.set(kind, (ignored.get(kind) ?? 0) + 1);
    } else {
      const read = identify(kind, raw);
      if (typeof read === 'string') issues.push({ place, problem: `${kind} ${read}` });
      else objects.push(read);
    }
  };

  documents.forEach((document, index) => {
    // An empty document, as between two separators, is no mistake.
    if (document !== null && document !== undefined) visit(document, documentPlace(index));
  });
  return { objects, issues, ignored };
}

/** The kind and name behind an object's key. */
export function parseKey(key: string): { readonly kind: ResourceKind; readonly reference: ObjectReference } {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  return { kind: kind as ResourceKind, reference: { namespace, name } };
}

function identify(kind: ResourceKind, raw: RawObject): ManifestObject | string {
  const metadata: { namespace?: unknown; name?: unknown } = isObject(raw.metadata) ? raw.metadata : {};
  const { name } = metadata;
  if (!isName(name)) return 'has no usable metadata.name';
  if (!KINDS[kind].namespaced) return manifestObject(kind, '', name, raw);
  const namespace = metadata.namespace ?? 'default';
  if (!isName(namespace)) return `${name} has no usable metadata.namespace`;
  const object = metadata.namespace === namespace ? raw : { ...raw, metadata: { ...metadata, namespace } };
  return manifestObject(kind, namespace, name, object);
}

function manifestObject(kind: ResourceKind, namespace: string, name: string, object: object): ManifestObject {
  const digest = hash('sha256', JSON.stringify(object), 'base64');
  return { key: `${kind}/${namespace}/${name}`, kind, object, digest };
}

/** Whether it can be told apart from others at all; whether Kubernetes would allow it is the receiver's question. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('/');
}

function isKnown(kind: string, apiVersion: unknown): kind is ResourceKind {
  if (!Object.hasOwn(KINDS, kind)) return false;
  if (apiVersion === undefined || apiVersion === null) return true;
  const [group, version] = String(apiVersion).split('/');
  return (version === undefined ? '' : group) === KINDS[kind as ResourceKind].group;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
