/** The known objects of one resource, lists that replace them, and their versions. */

import type { ObjectReference } from '../../../application/ports/cluster-source.js';
import type { Logger } from '../../../application/ports/logger.js';
import { flatText } from '../../../domain/model/text.js';
import type { UnreadableObject } from '../encoding/encoding.js';

/** Receives what changes. Called synchronously. */
export interface ObjectListener {
  applied(object: unknown): void;
  deleted(reference: ObjectReference): void;
}

/**
 * The objects of one resource that are read: remembers each object's resourceVersion, and reports changes to a listener. An object
 * that is not selected does not exist here.
 */
export class KnownObjects {
  /** By `namespace/name`; "/" occurs in neither. */
  private readonly versions = new Map<string, string>();

  constructor(
    private readonly listener: ObjectListener,
    private readonly logger: Logger,
    private readonly isSelected: (object: unknown) => boolean = () => true,
  ) {}

  get size(): number {
    return this.versions.size;
  }

  /**
   * Delivers the object unless this version of it was delivered before. Returns its key; undefined if it is unusable or not
   * selected.
   */
  apply(object: unknown): string | undefined {
    const identity = identityOf(object);
    if (!identity) {
      this.logger.warn({}, 'the API server sent an object without a name or resourceVersion; ignoring it');
      return undefined;
    }
    const { key, version } = identity;
    if (!this.isSelected(object)) {
      this.remove(key);
      return undefined;
    }
    if (this.versions.get(key) !== version) {
      this.versions.set(key, version);
      this.listener.applied(object);
    }
    return key;
  }

  /** Reports the object as deleted, if it was known. */
  delete(object: unknown): void {
    const identity = identityOf(object);
    if (identity) this.remove(identity.key);
  }

  keys(): Iterable<string> {
    return this.versions.keys();
  }

  /** Reports the object of this key as deleted, if it was known. */
  remove(key: string): void {
    if (this.versions.delete(key)) this.listener.deleted(referenceOf(key));
  }

  /** Delivers every object again the next time it comes, even with the same version. */
  forgetVersions(): void {
    for (const key of this.versions.keys()) this.versions.set(key, '');
  }
}

/** The object's `namespace/name`; undefined when it has no name. */
function keyOf(object: unknown): string | undefined {
  return identityOf(object)?.key;
}

/** Undefined when the value is not an API object. */
function identityOf(object: unknown): { readonly key: string; readonly version: string } | undefined {
  const metadata = (object as { metadata?: Record<string, unknown> } | null | undefined)?.metadata;
  if (!metadata || typeof metadata.name !== 'string' || typeof metadata.resourceVersion !== 'string')
    return undefined;
  const namespace = typeof metadata.namespace === 'string' ? metadata.namespace : '';
  return { key: flatText(namespace, '/', metadata.name), version: metadata.resourceVersion };
}

function referenceOf(key: string): ObjectReference {
  const slash = key.indexOf('/');
  return { namespace: key.slice(0, slash), name: key.slice(slash + 1) };
}

/**
 * A whole list of a resource while it arrives. What was known and is not in it is deleted when it ends. It keeps nothing of the
 * list, only the keys of what has not come yet: none of the first list.
 */
export class Replacement {
  /** Known when the list began, and not in it so far. */
  private missing: Set<string>;
  /** An unreadable object without a name may be any of those that are known. */
  private namesEverything = true;

  constructor(
    private readonly known: KnownObjects,
    private readonly logger: Logger,
  ) {
    this.missing = new Set(known.keys());
  }

  add(object: unknown): void {
    const key = this.known.apply(object);
    if (key !== undefined) this.missing.delete(key);
  }

  /** The object was deleted while the list arrived. */
  remove(object: unknown): void {
    this.known.delete(object);
  }

  /** The list contains an object that cannot be decoded. Its last version stays. */
  addUnreadable({ partial, problem }: UnreadableObject): void {
    const key = keyOf(partial);
    if (key === undefined) this.namesEverything = false;
    else this.missing.delete(key);
    this.logger.warn(
      { object: key ?? 'without a readable name', problem },
      'the API server sent an unreadable object; ignored; keeping the last valid version',
    );
  }

  /** Everything comes again. */
  restart(): void {
    this.logger.debug({}, 'the list expired between pages; listing again without pages');
    this.missing = new Set(this.known.keys());
    this.namesEverything = true;
  }

  /** Everything has come. */
  end(): void {
    if (this.namesEverything) for (const key of this.missing) this.known.remove(key);
  }
}

/**
 * The newest version of a resource. An API server whose storage was restored from a backup accepts a watch from a version that it
 * no longer has, and sends nothing until it reaches that version again.
 */
export class RewindDetector {
  /** How many restores were found. */
  rewinds = 0;
  private newestSent = '';
  private suspectedAt = -Infinity;

  /** @param interval minimum milliseconds between two suspicions, so that the server is not asked more often */
  constructor(private readonly interval: number) {}

  /** The newest version that the server has sent; "" before the first, and after a restore. */
  get newest(): string {
    return this.newestSent;
  }

  /** The server has sent this version. Returns whether it is older than one sent before. */
  observe(version: string): boolean {
    const older = isOlder(version, this.newestSent);
    if (!older) this.newestSent = version;
    return older;
  }

  /** A version is older than one sent before. Returns false when it is too soon to request the storage's again. */
  suspect(now: number): boolean {
    if (now - this.suspectedAt < this.interval) return false;
    this.suspectedAt = now;
    return true;
  }

  /** The storage was restored: versions start again. */
  rewound(): void {
    this.newestSent = '';
    this.rewinds++;
  }
}

const WHOLE_NUMBER = /^[1-9][0-9]*$/;

/**
 * Whether a resourceVersion is older than another. Since Kubernetes 1.35 they compare as whole numbers of any length. Versions
 * in any other form have no known order, so neither is older.
 */
export function isOlder(version: string, other: string): boolean {
  const less = version.length === other.length ? version < other : version.length < other.length;
  return less && WHOLE_NUMBER.test(version) && WHOLE_NUMBER.test(other);
}
