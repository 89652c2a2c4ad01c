import { collectionOf, isClusterScoped } from './resource-path.js';

export interface ApiObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly resourceVersion?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly [field: string]: unknown;
  };
  readonly [field: string]: unknown;
}

/** One write. `before` is missing for a creation, `after` for a removal. */
export interface Change {
  readonly version: number;
  readonly collection: string;
  readonly before?: ApiObject;
  /** The state after; for a removal the last state, with the version of the removal. */
  readonly after: ApiObject;
  readonly removed: boolean;
}

/** What was there at a version. */
export interface Backup {
  readonly version: number;
  readonly collections: ReadonlyMap<string, ReadonlyMap<string, ApiObject>>;
}

/** Objects with a history, as etcd keeps them: one version counter for all, and a horizon behind which all is forgotten. */
export class ObjectStore {
  private collections = new Map<string, Map<string, ApiObject>>();
  private history: Change[] = [];
  private readonly listeners = new Set<(change: Change) => void>();
  version = 1000;
  /** Changes up to this version are forgotten. */
  compacted = 1000;

  put(object: ApiObject): ApiObject {
    const stored = this.stamp(object);
    const objects = this.collection(collectionOf(object.apiVersion, object.kind));
    const before = objects.get(keyOf(stored));
    objects.set(keyOf(stored), stored);
    this.record(stored, false, before);
    return stored;
  }

  get(collection: string, namespace: string | undefined, name: string): ApiObject | undefined {
    return this.collection(collection).get(`${namespace ?? ''}/${name}`);
  }

  remove(collection: string, namespace: string | undefined, name: string): ApiObject | undefined {
    const before = this.get(collection, namespace, name);
    if (!before) return undefined;
    this.collection(collection).delete(keyOf(before));
    const after = this.stamp(before);
    this.record(after, true, before);
    return after;
  }

  /** All objects of a collection in the order of their keys, as pages need it. @param at missing: now */
  list(collection: string, at?: Backup): ApiObject[] {
    const objects = at ? (at.collections.get(collection) ?? []) : this.collection(collection);
    return [...objects].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  }

  /** Changes after that version, oldest first. */
  since(version: number): Change[] {
    return this.history.filter((change) => change.version > version);
  }

  /** Moves the version on as writes to other resources do. */
  bump(by = 1): number {
    return (this.version += by);
  }

  /** Forgets the history: watches and continue tokens from before are too old. */
  compact(): void {
    this.compacted = this.version;
    this.history = [];
  }

  backup(): Backup {
    const collections = [...this.collections].map(([path, objects]) => [path, new Map(objects)] as const);
    return { version: this.version, collections: new Map(collections) };
  }

  /** Goes back to a backup, of which no history is known. Who listens hears what is different. */
  restore({ version, collections }: Backup): void {
    const former = this.collections;
    this.collections = new Map([...collections].map(([path, objects]) => [path, new Map(objects)]));
    this.version = version;
    this.compact();
    for (const path of new Set([...former.keys(), ...collections.keys()])) {
      const [was, is] = [former.get(path), collections.get(path)];
      for (const key of new Set([...(was?.keys() ?? []), ...(is?.keys() ?? [])])) {
        const [before, after] = [was?.get(key), is?.get(key)];
        if (before === after) continue;
        const change: Change = {
          version,
          collection: path,
          ...(before && { before }),
          after: after ?? before!,
          removed: after === undefined,
        };
        for (const listener of [...this.listeners]) listener(change);
      }
    }
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  private collection(path: string): Map<string, ApiObject> {
    const objects = this.collections.get(path) ?? new Map<string, ApiObject>();
    this.collections.set(path, objects);
    return objects;
  }

  private stamp(object: ApiObject): ApiObject {
    const { namespace, ...metadata } = object.metadata;
    const scoped = isClusterScoped(object.kind) ? {} : { namespace: namespace ?? 'default' };
    return { ...object, metadata: { ...metadata, ...scoped, resourceVersion: String(this.bump()) } };
  }

  private record(after: ApiObject, removed: boolean, before?: ApiObject): void {
    const collection = collectionOf(after.apiVersion, after.kind);
    const change: Change = {
      version: this.version,
      collection,
      after,
      removed,
      ...(before ? { before } : {}),
    };
    this.history.push(change);
    for (const listener of [...this.listeners]) listener(change);
  }
}

function keyOf({ metadata }: ApiObject): string {
  return `${metadata.namespace ?? ''}/${metadata.name}`;
}
