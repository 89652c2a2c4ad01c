import { hash } from 'node:crypto';
import type { ObjectReference, ResourceKind } from '../../application/ports/cluster-source.js';
import { type RawObject, quote } from '../../domain/decode/fields.js';
import type { Allocations } from '../../domain/validation/allocations.js';
import { annotationDoubts } from '../../domain/validation/annotations.js';
import { deprecationDoubts } from '../../domain/validation/deprecations.js';
import { isObject, type FieldProblem } from '../../domain/validation/schema.js';
import type { Path, ManifestPlace } from './manifest-chunks.js';
import { checkObject, isNamespaced, isRead, meantKind, type CheckedObject } from './manifest-kinds.js';
import type { ManifestValue } from './manifest-text.js';

/** One object of a manifest that the proxy reads. */
export interface ManifestObject {
  /** Kind, namespace and name: what makes two objects the same. */
  readonly key: string;
  readonly kind: ResourceKind;
  readonly object: object;
  /** Identifies the contents. */
  readonly digest: string;
}

/** A reason to reject an object. */
export interface ManifestIssue {
  /** The object's key; undefined if it has no usable name. */
  readonly key?: string;
  /** The object, for people: `Service shop/cart`, or the place in the file (`document 1, item 3`). */
  readonly subject: string;
  /** `field: what is wrong with it`. */
  readonly problem: string;
  readonly place: ManifestPlace;
  /** The path of the field from the place. */
  readonly field: Path;
}

/** This many objects take about a millisecond. */
const BATCH = 32;
const TOO_DEEP: FieldProblem = {
  field: 'metadata.name',
  what: 'belongs to an object that is nested too deeply',
};

/**
 * Collects the objects that the proxy reads from the values of one manifest, and checks them against the rules of the API
 * server. Lists (`List`, `ServiceList`…) are expanded. The items of a typed list need no kind of their own, and a typed list
 * must not be inside another list. Of objects with the same name, the first counts. A namespaced object without a namespace
 * is in `default`.
 */
export class ManifestObjects {
  /** In the order of the file. */
  readonly objects: ManifestObject[] = [];
  readonly issues: ManifestIssue[] = [];
  /** What objects that are used ask for, and do not get. */
  readonly doubts: ManifestIssue[] = [];
  /** How often each kind occurs that the proxy does not read. */
  readonly ignored = new Map<string, number>();
  /** Where each object is, by its key. */
  readonly places = new Map<string, ManifestPlace>();
  private taken = 0;

  /**
   * @param allocations with it, what two Services claim is a problem of the second, as when both were created in a cluster, kinds that no
   *   API server knows are one, and doubts are looked for
   */
  constructor(private readonly allocations?: Allocations) {}

  /** Yields after each batch of objects, so that other work can run. */
  *add({ value, place, list }: ManifestValue): Generator<undefined> {
    // An empty document, as between two separators, is allowed.
    if (list === undefined && (value === null || value === undefined)) return;
    yield* this.visit(value, place, list);
  }

  private *visit(value: unknown, place: ManifestPlace, list?: string): Generator<undefined> {
    if (!isObject(value)) {
      this.reject(place, place.toString(), 'is not an object');
      return;
    }
    const kind = value.kind ?? kindOfItems(list);
    if (typeof kind !== 'string' || kind === '') {
      this.reject(place, place.toString(), 'has no kind');
    } else if (kind.endsWith('List') && Array.isArray(value.items)) {
      if (list !== undefined && kind !== 'List') {
        const problem = `kind: a ${kind} cannot be inside a list; put its items there`;
        this.reject(place, place.toString(), problem, ['kind']);
        return;
      }
      const items: readonly unknown[] = value.items;
      for (let index = 0; index < items.length; index++)
        yield* this.visit(items[index], place.item(index), kind);
    } else if (!isRead(kind, value.apiVersion)) {
      const problem = this.problemOfKind(kind, value.apiVersion);
      if (problem === undefined) this.ignored.set(kind, (this.ignored.get(kind) ?? 0) + 1);
      else this.reject(place, place.toString(), `kind: ${quote(kind)} ${problem}`, ['kind']);
    } else {
      this.take(kind, value, place);
      if (++this.taken % BATCH === 0) yield;
    }
  }

  /** Of a kind that is not read. What only looks like an object, as a kubeconfig does, is no problem but to an API server. */
  private problemOfKind(kind: string, apiVersion: unknown): string | undefined {
    const meant = meantKind(kind, apiVersion);
    if (meant !== undefined) return `is not a kind of Kubernetes; did you mean ${meant}?`;
    return this.allocations && !mayExist(kind, apiVersion)
      ? `is not a kind of ${apiVersion as string}`
      : undefined;
  }

  private take(kind: ResourceKind, raw: RawObject, place: ManifestPlace): void {
    const metadata = isObject(raw.metadata) ? raw.metadata : {};
    const { name } = metadata;
    const namespace = isNamespaced(kind) ? (metadata.namespace ?? 'default') : '';
    if (!isName(name) || (isNamespaced(kind) && !isName(namespace))) {
      const path = ['metadata', isName(name) ? 'namespace' : 'name'];
      const problem = `${path.join('.')}: is missing or invalid`;
      this.reject(place, `${kind} (${place.toString()})`, problem, path);
      return;
    }
    const key = `${kind}/${String(namespace)}/${name}`;
    const named =
      namespace === '' || namespace === metadata.namespace
        ? raw
        : { ...raw, metadata: { ...metadata, namespace } };
    const { object, problems } = this.checked(kind, key, named, place);
    const digest = problems.length === 0 ? digestOf(object) : undefined;
    if (digest !== undefined) this.objects.push({ key, kind, object, digest });
    if (digest !== undefined && this.allocations)
      for (const { field, what } of [
        ...annotationDoubts(kind, object as RawObject),
        ...deprecationDoubts(kind, object as RawObject),
      ])
        this.doubts.push({
          key,
          subject: subjectOf(key),
          problem: `${field}: ${what}`,
          place,
          field: stepsTo(field),
        });
    for (const { field, what } of digest === undefined && problems.length === 0 ? [TOO_DEEP] : problems) {
      const problem = field === '' ? what : `${field}: ${what}`;
      this.reject(place, subjectOf(key), problem, stepsTo(field), key);
    }
  }

  private reject(
    place: ManifestPlace,
    subject: string,
    problem: string,
    field: Path = [],
    key?: string,
  ): void {
    this.issues.push({ ...(key !== undefined && { key }), subject, problem, place, field });
  }

  private checked(kind: ResourceKind, key: string, object: RawObject, place: ManifestPlace): CheckedObject {
    const first = this.places.get(key);
    if (first !== undefined) {
      const what = `is already used by ${first.toString()}; that one counts`;
      return { object, problems: [{ field: 'metadata.name', what }] };
    }
    this.places.set(key, place);
    const checked = checkObject(kind, object);
    if (kind !== 'Service' || !this.allocations) return checked;
    // An invalid Service, too: it is meant to have what it asks for.
    const claimed = this.allocations.claim(subjectOf(key), checked.object);
    return { object, problems: [...checked.problems, ...claimed] };
  }
}

/** Undefined when the object is nested too deeply for JSON. */
function digestOf(object: object): string | undefined {
  try {
    return hash('sha256', JSON.stringify(object), 'base64');
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

/** The kind and name behind an object's key. */
export function parseKey(key: string): { readonly kind: ResourceKind; readonly reference: ObjectReference } {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  return { kind: kind as ResourceKind, reference: { namespace, name } };
}

/** The object behind a key, for people: `Service shop/cart`, `Node n1`. */
export function subjectOf(key: string): string {
  const { kind, reference } = parseKey(key);
  return `${kind} ${reference.namespace === '' ? '' : `${reference.namespace}/`}${reference.name}`;
}

/** The steps to a field: `spec.ports[0].port`, `metadata.labels[a.b/c]`. */
export function stepsTo(field: string): Path {
  return [...field.matchAll(/([^.[\]]+)|\[(\d+)\]|\[([^\]]+)\]/g)].map(([, name, index, key]) =>
    index === undefined ? (name ?? key ?? '') : Number(index),
  );
}

function kindOfItems(list: string | undefined): string | undefined {
  return list === undefined || list === 'List' ? undefined : list.slice(0, -'List'.length);
}

/** Whether the value can identify an object; decoding checks whether Kubernetes allows it. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('/');
}

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
function mayExist(kind: string, apiVersion: unknown): boolean {
  return KINDS_OF.get(apiVersion)?.includes(kind) ?? true;
}
