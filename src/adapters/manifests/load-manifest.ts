/** Reads the objects of a manifest, and checks them against the rules of the API server. */

import { hash } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ObjectReference, ResourceKind } from '../../application/ports/cluster-source.js';
import { type RawObject, quote } from '../../domain/decode/fields.js';
import type { Allocations } from '../../domain/validation/allocations.js';
import { warningsOf } from '../../domain/validation/warnings.js';
import { isObject, type FieldProblem } from '../../domain/validation/schema.js';
import { checkObject, isNamespaced, isRead, meantKind } from './manifest-kinds.js';
import { parseManifest, type ManifestDocument, type Path } from './manifest-text.js';

/** One object of a manifest that the proxy reads. */
export interface ManifestObject {
  /** Kind, namespace and name: what makes two objects the same. */
  readonly key: string;
  readonly kind: ResourceKind;
  readonly object: object;
  /** Identifies the contents. */
  readonly digest: string;
}

/** A problem of an object, and its place. */
export interface RejectedObject {
  /** The object's key; undefined if it has no usable name. */
  readonly key?: string;
  /** The object, for people: `Service shop/cart`, or the place in the file (`document 1, item 3`). */
  readonly subject: string;
  /** `field: what is wrong with it`. */
  readonly problem: string;
  /** The line of the file, from 1; undefined if it is not known. */
  readonly line: number | undefined;
}

/** The contents of a manifest. */
export interface ManifestContents {
  /** In the order of the file. */
  readonly objects: readonly ManifestObject[];
  readonly rejected: readonly RejectedObject[];
  /** Parts of valid objects that have no effect, or will have none; looked for with allocations. */
  readonly warnings: readonly RejectedObject[];
  /** Where each object is, by its key. */
  readonly places: ReadonlyMap<string, ManifestPlace>;
  /** Kinds that the proxy does not read, with the number of their objects. */
  readonly ignored: ReadonlyMap<string, number>;
}

/**
 * Reads the text of a manifest, yielding to the event loop between documents and objects.
 * @param allocations with it, an address or port that two Services claim is a problem of the second, as when both were created in a
 *   cluster, unknown kinds are errors, and warnings are reported
 * @throws ManifestSyntaxError
 */
export async function loadManifest(
  text: string,
  slice: TimeSlice,
  allocations?: Allocations,
): Promise<ManifestContents> {
  const found = new ManifestObjects(allocations);
  for (const document of parseManifest(text)) {
    await slice.yieldIfOver();
    for (const _ of found.add(document)) if (slice.isOver) await slice.yieldIfOver();
  }
  return found;
}

/** A place in a manifest: a document, or an item of a list. */
export class ManifestPlace {
  constructor(
    private readonly document: ManifestDocument,
    private readonly path: Path = [],
  ) {}

  item(index: number): ManifestPlace {
    return new ManifestPlace(this.document, [...this.path, 'items', index]);
  }

  /** The line of a field such as `spec.ports[0].port` or `metadata.labels[a.b/c]`, or else of the innermost value that contains it. */
  lineOf(field: string): number | undefined {
    const steps = [...field.matchAll(/([^.[\]]+)|\[(\d+)\]|\[([^\]]+)\]/g)].map(([, name, index, key]) =>
      index === undefined ? (name ?? key ?? '') : Number(index),
    );
    return this.document.source.lineOf(this.document.index, [...this.path, ...steps]);
  }

  /** For people, such as `document 1, item 3`. */
  toString(): string {
    const items = this.path.flatMap((step) => (typeof step === 'number' ? `, item ${step + 1}` : []));
    return `document ${this.document.number}${items.join('')}`;
  }
}

/**
 * Collects the objects that the proxy reads from the documents of one manifest. Lists (`List`, `ServiceList`…) are expanded. The items
 * of a typed list need no kind of their own, and a typed list must not be inside another list. Of objects with the same name, the first
 * counts. A namespaced object without a namespace is in `default`.
 */
export class ManifestObjects implements ManifestContents {
  readonly objects: ManifestObject[] = [];
  readonly rejected: RejectedObject[] = [];
  readonly warnings: RejectedObject[] = [];
  readonly ignored = new Map<string, number>();
  readonly places = new Map<string, ManifestPlace>();

  constructor(private readonly allocations?: Allocations) {}

  /** Yields after each object, so that other work can run. */
  *add(document: ManifestDocument): Generator<undefined> {
    // An empty document, as between two separators, is allowed.
    if (document.value !== null) yield* this.visit(document.value, new ManifestPlace(document));
  }

  /** @param list the kind of the list that contains the value */
  private *visit(value: unknown, place: ManifestPlace, list?: string): Generator<undefined> {
    if (!isObject(value)) return this.reject(place, { field: '', what: 'is not an object' });
    const kind = value.kind ?? (list === 'List' ? undefined : list?.slice(0, -'List'.length));
    if (typeof kind !== 'string' || kind === '')
      return this.reject(place, { field: '', what: 'has no kind' });
    if (kind.endsWith('List') && Array.isArray(value.items)) {
      if (list !== undefined && kind !== 'List') {
        const what = `a ${kind} cannot be inside a list; put its items there`;
        return this.reject(place, { field: 'kind', what });
      }
      for (const [index, item] of value.items.entries()) yield* this.visit(item, place.item(index), kind);
    } else if (isRead(kind, value.apiVersion)) {
      this.take(kind, value, place);
      yield;
    } else {
      const what = this.problemOfKind(kind, value.apiVersion);
      if (what === undefined) this.ignored.set(kind, (this.ignored.get(kind) ?? 0) + 1);
      else this.reject(place, { field: 'kind', what: `${quote(kind)} ${what}` });
    }
  }

  /** Of a kind that is not read. A text that only resembles an object, such as a kubeconfig, is a problem for an API server only. */
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
      const field = isName(name) ? 'metadata.namespace' : 'metadata.name';
      return this.reject(place, { field, what: 'is missing or invalid' }, `${kind} (${String(place)})`);
    }
    const key = `${kind}/${String(namespace)}/${name}`;
    const subject = subjectOf(key);
    const first = this.places.get(key);
    if (first !== undefined) {
      const what = `is already used by ${String(first)}; that one is used`;
      return this.reject(place, { field: 'metadata.name', what }, subject, key);
    }
    this.places.set(key, place);
    const isComplete = namespace === '' || namespace === metadata.namespace;
    const named = isComplete ? raw : { ...raw, metadata: { ...metadata, namespace } };
    const { object, problems } = checkObject(kind, named);
    // An invalid Service claims, too: it is meant to have the address.
    const claimed = kind === 'Service' ? (this.allocations?.claim(subject, object) ?? []) : [];
    for (const problem of [...problems, ...claimed]) this.reject(place, problem, subject, key);
    if (problems.length + claimed.length > 0) return;
    this.objects.push({ key, kind, object, digest: hash('sha256', JSON.stringify(object), 'base64') });
    if (!this.allocations) return;
    for (const warning of warningsOf(kind, object))
      this.warnings.push(rejected(place, warning, subject, key));
  }

  private reject(place: ManifestPlace, problem: FieldProblem, subject = String(place), key?: string): void {
    this.rejected.push(rejected(place, problem, subject, key));
  }
}

function rejected(
  place: ManifestPlace,
  { field, what }: FieldProblem,
  subject: string,
  key: string | undefined,
): RejectedObject {
  const problem = field === '' ? what : `${field}: ${what}`;
  return { ...(key !== undefined && { key }), subject, problem, line: place.lineOf(field) };
}

/** The kind and name behind an object's key. */
export function parseKey(key: string): { readonly kind: ResourceKind; readonly reference: ObjectReference } {
  const [kind = '', namespace = '', name = ''] = key.split('/');
  return { kind: kind as ResourceKind, reference: { namespace, name } };
}

/** The object behind a key, for people: `Service shop/cart`, `Node n1`. */
export function subjectOf(key: string): string {
  return key.replace(/\/+/, ' ');
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

/** False if no API server has the kind. */
function mayExist(kind: string, apiVersion: unknown): boolean {
  return KINDS_OF.get(apiVersion)?.includes(kind) ?? true;
}

/** Milliseconds of work between two turns of the event loop. */
const SLICE_MILLISECONDS = 10;

/** Lets the event loop run after each slice of a long work. */
export class TimeSlice {
  private startedAt = performance.now();

  /** Whether the event loop has waited long enough. */
  get isOver(): boolean {
    return performance.now() - this.startedAt >= SLICE_MILLISECONDS;
  }

  /** Called between two pieces of work. Waits only when the slice is over. */
  async yieldIfOver(): Promise<void> {
    if (!this.isOver) return;
    await yieldToEventLoop();
    this.startedAt = performance.now();
  }
}
