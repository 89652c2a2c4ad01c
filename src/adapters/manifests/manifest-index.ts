import { append, getOrMake } from '../../domain/model/maps.js';
import type { ManifestObject } from './load-manifest.js';

/** The changes for the receiver when a file's contents are replaced. */
interface Difference {
  /** Added or changed. */
  readonly applied: readonly ManifestObject[];
  /** Keys that no file contains any longer. */
  readonly deleted: readonly string[];
  /** Files whose version of an object counts again. They must be read again, because contents are not kept. */
  readonly reread: ReadonlySet<string>;
  /** By other file: keys that both files contain, seen for the first time. */
  readonly duplicates: ReadonlyMap<string, readonly string[]>;
}

/** The files that contain an object, and the version that the receiver has. */
interface Entry {
  /** In order: the last one counts. */
  files: readonly string[];
  /** Digest of the delivered version; undefined while that is not the version of the last file. */
  digest: string | undefined;
}

/**
 * Remembers which file contains which objects, by key and digest only, so that memory does not grow with their size. An
 * object in several files is taken from the last one in order; when that file drops it, the next one counts again.
 */
export class ManifestIndex {
  private readonly entries = new Map<string, Entry>();
  private readonly keysOfFile = new Map<string, ReadonlySet<string>>();

  /** `compare` orders the files: the later one wins. */
  constructor(private readonly compare: (left: string, right: string) => number) {}

  /** Whether the file contained any object when it was last read. */
  holds(file: string): boolean {
    return (this.keysOfFile.get(file)?.size ?? 0) > 0;
  }

  /**
   * Replaces the objects of the file, except for the keys for which `keep` returns true: their objects exist but are invalid,
   * so the last valid version stays.
   */
  replace(file: string, objects: readonly ManifestObject[], keep: (key: string) => boolean): Difference {
    const before = this.keysOfFile.get(file) ?? new Set<string>();
    const applied: ManifestObject[] = [];
    const duplicates = new Map<string, string[]>();
    const keys = new Set<string>();
    for (const object of objects) {
      keys.add(object.key);
      const entry = this.hold(object.key, file, before.has(object.key) ? undefined : duplicates);
      if (entry.files.at(-1) !== file || entry.digest === object.digest) continue;
      entry.digest = object.digest;
      applied.push(object);
    }
    for (const key of before) if (keep(key)) keys.add(key);
    const dropped = [...before].filter((key) => !keys.has(key));
    if (keys.size > 0) this.keysOfFile.set(file, keys);
    else this.keysOfFile.delete(file);
    return { applied, duplicates, ...this.release(file, dropped) };
  }

  /** Records that the file contains the key. */
  private hold(key: string, file: string, duplicates: Map<string, string[]> | undefined): Entry {
    const entry = getOrMake(this.entries, key, (): Entry => ({ files: [], digest: undefined }));
    const last = entry.files.at(-1);
    if (!entry.files.includes(file)) entry.files = entry.files.concat(file).sort(this.compare);
    if (duplicates && last !== undefined && last !== file) append(duplicates, last, key);
    return entry;
  }

  private release(file: string, keys: readonly string[]): Pick<Difference, 'deleted' | 'reread'> {
    const deleted: string[] = [];
    const reread = new Set<string>();
    for (const key of keys) {
      const entry = this.entries.get(key)!;
      const isLast = entry.files.at(-1) === file;
      entry.files = entry.files.filter((other) => other !== file);
      const next = entry.files.at(-1);
      if (next === undefined) {
        this.entries.delete(key);
        deleted.push(key);
      } else if (isLast) {
        entry.digest = undefined;
        reread.add(next);
      }
    }
    return { deleted, reread };
  }
}
